package web

import (
	"fmt"
	"slices"

	"chairside/internal/scope"
	"chairside/internal/signin"
)

// section is one entry of the navigation.
type section struct {
	Path, Name string
	Apart      bool        // begins a group: a line separates it from the entries before it
	level      scope.Level // of its route
}

// navigation lists the entries in order. It says nothing about who may open them: that is
// declared once, with the routes.
var navigation = []section{
	{Path: diaryPath, Name: "Diary"},
	{Path: reportsPath, Name: "Reports"},

	{Path: tokensPath, Name: "Tokens", Apart: true},
	{Path: "/settings/applications", Name: "Applications"},
	{Path: requestsPath, Name: "API requests"},
	{Path: webhooksPath, Name: "Webhooks"},
	{Path: "/settings/authorizations", Name: "Authorised applications"},

	{Path: usersPath, Name: "Users", Apart: true},
	{Path: practiceSettingsPath, Name: "Practice"},
	{Path: siteLimitsPath, Name: "Site limits"},
	{Path: patientDataPath, Name: "Patient data"},
	{Path: auditPath, Name: "Audit log"},
	{Path: recordsPath, Name: "Records"},
	{Path: statusPath, Name: "Status"},

	{Path: "/settings/sessions", Name: "Sessions", Apart: true},
	{Path: signInsPath, Name: "Sign-in history"},
	{Path: securityPath, Name: "Security"},
}

// sectionsOf returns the navigation with the levels of its routes.
func sectionsOf(routes []Route) ([]section, error) {
	all := slices.Clone(navigation)
	for i := range all {
		entry := &all[i]
		at := slices.IndexFunc(routes, func(r Route) bool { return r.Path == entry.Path && r.get != nil })
		if at < 0 {
			return nil, fmt.Errorf("the navigation has %s, which is no page", entry.Path)
		}
		entry.level = routes[at].level
	}
	return all, nil
}

// sectionsFor returns the sections that a visitor may open.
func (s *Site) sectionsFor(v *signin.Visitor) (all []section) {
	for _, entry := range s.sections {
		if v.User.Role.PermissionLevel() >= entry.level {
			all = append(all, entry)
		}
	}
	return all
}
