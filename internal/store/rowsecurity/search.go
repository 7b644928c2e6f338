package rowsecurity

import "chairside/ent/patient"

// SearchView is a view of the columns of patients that a search reads. The policy of patients
// would hide the index of search keys from the planner, because && on arrays is not leak-proof.
// The view belongs to the system role, which the policy does not confine, and has the policy's
// condition itself, which the planner may apply after the index. So it stops a forgotten filter,
// but not a query that is written to leak: no user writes SQL.
//
// It must not be a security_barrier, and not security_invoker: both would lose the index again.
const SearchView = "patient_search"

// searchCondition is the condition of the view. It is no equality, so that the planner does not
// read all patients of the practice by another index.
const searchCondition = `"` + patient.FieldPracticeID + `" IS NOT DISTINCT FROM ` + ownPractice

// searchColumns are the columns of the view. It has no others, so that migrations of patients
// need not know it.
var searchColumns = []string{patient.FieldID, patient.FieldPracticeID, patient.FieldSearchText}
