// Configuration of the Atlas command line (v0.13.1 or later): validate, lint, list and
// apply the migrations of "chairside migrate", with the same revision table:
//
//   atlas migrate validate --env postgres
//   atlas migrate lint     --env sqlite --latest 1
//   atlas migrate status   --env postgres
//
// Create migrations with "go run ./internal/store/migrate/diff NAME", not with "atlas migrate
// diff": it adds the composite foreign keys and the collations to the Ent schema. Atlas
// reads ent://schema without them and would drop them.

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

// A migration must work while the previous release runs. To break a rule, write above the
// statement, with a reason:
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
