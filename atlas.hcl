// For the Atlas command line (atlas v0.13.1 or later): validate, lint, status
// and apply the same migrations that "chairside migrate" applies, on the same
// record of them:
//
//   atlas migrate validate --env postgres
//   atlas migrate lint     --env sqlite --latest 1
//   atlas migrate status   --env postgres
//
// New files come from "go run ./internal/store/migrate/diff NAME", not from "atlas
// migrate diff": foreign keys that also compare the practice and the collation
// of text are added to the Ent schema there (internal/store/migrate/tables.go), and
// Atlas, which reads ent://schema itself, would take them out again.

variable "postgres_url" {
  type    = string
  default = getenv("CHAIRSIDE_ATLAS_POSTGRES_URL") // postgres://…/chairside?search_path=public
}

variable "postgres_dev_url" {
  type    = string
  default = getenv("CHAIRSIDE_ATLAS_POSTGRES_DEV_URL") // an empty database to replay on
}

variable "sqlite_url" {
  type    = string
  default = getenv("CHAIRSIDE_ATLAS_SQLITE_URL") // sqlite://chairside.db?_fk=1
}

env "postgres" {
  src = "ent://schema"
  url = var.postgres_url
  dev = var.postgres_dev_url
  migration {
    dir = "file://internal/store/migrate/migrations/postgres"
  }
}

env "sqlite" {
  src = "ent://schema"
  url = var.sqlite_url
  dev = "sqlite://dev?mode=memory&_fk=1"
  migration {
    dir = "file://internal/store/migrate/migrations/sqlite"
  }
}

// A migration has to work while the previous release still runs. One that must
// break a rule says so above the statement, with its reason:
// -- atlas:nolint destructive
lint {
  destructive {
    error = true
  }
  data_depend {
    error = true
  }
  incompatible {
    error = true
  }
  naming {
    error   = true
    match   = "^[a-z][a-z0-9_]*$"
    message = "lower-case letters, digits and underscores"
  }
}
