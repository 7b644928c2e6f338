module chairside

go 1.26.0

require (
	ariga.io/atlas v1.0.0 // migrations: differences, checksums, locks
	entgo.io/contrib v0.7.0 // entoas: property schemas of the API document
	entgo.io/ent v0.14.5 // the ORM
	filippo.io/age v1.3.2 // encrypted backups
	github.com/alecthomas/kong v1.17.0 // command line: flags, environment, help
	github.com/alexedwards/argon2id v1.0.0 // password hashes
	github.com/alexedwards/scs/v2 v2.9.0 // sessions of signed-in users
	github.com/anishathalye/porcupine v1.0.3 // tests: whether a history of reads and writes goes back in time
	github.com/ccojocar/zxcvbn-go v1.0.4 // its list of common passwords
	github.com/cespare/xxhash/v2 v2.3.0 // entity tags
	github.com/chromedp/cdproto v0.0.0-20250724212937-08a3db8b4327 // tests: of chromedp
	github.com/chromedp/chromedp v0.14.1 // tests: the pages in a browser
	github.com/descope/virtualwebauthn v1.0.3 // tests: an authenticator with passkeys
	github.com/getkin/kin-openapi v0.132.0 // tests: checks answers against the API document
	github.com/go-faster/errors v0.8.0 // of generated API code
	github.com/go-faster/jx v1.2.0 // JSON, as the generated API code writes it
	github.com/go-faster/yaml v0.4.6 // of the generator: extensions in the document
	github.com/go-webauthn/webauthn v0.18.2 // passkeys: checks of what authenticators sign
	github.com/gofrs/flock v0.13.1 // one process at a time makes a backup; released by the system if it is killed
	github.com/google/uuid v1.6.0 // ids
	github.com/jackc/pgx/v5 v5.12.0 // the hand-written server of the benchmark
	github.com/jedib0t/go-pretty/v6 v6.8.3 // tables on a terminal
	github.com/lib/pq v1.12.3 // PostgreSQL
	github.com/mileusna/useragent v1.3.5 // names of browsers, on the sessions page
	github.com/modelcontextprotocol/go-sdk v1.8.0 // assistants: the official SDK of the Model Context Protocol
	github.com/nyaruka/phonenumbers v1.8.1 // libphonenumber: E.164 forms
	github.com/ogen-go/ogen v1.24.0 // the API server, client and types
	github.com/parquet-go/parquet-go v0.32.0 // Parquet files for data warehouses
	github.com/pquerna/otp v1.5.0 // second factors: time-based codes, QR codes
	github.com/prometheus/client_golang v1.25.0 // metrics
	github.com/rogpeppe/go-internal v1.16.0 // tests: scripts of the command line
	github.com/schollz/progressbar/v3 v3.19.1 // progress of long commands
	github.com/tink-crypto/tink-go/v2 v2.9.0 // sealed columns: AES-GCM and its keys
	github.com/wneessen/go-mail v0.8.1 // scheduled reports: mail by SMTP
	github.com/yuin/goldmark v1.8.7 // Markdown of the guides
	go.opentelemetry.io/otel v1.45.0 // traces: attributes, states, traceparent
	go.opentelemetry.io/otel/exporters/otlp/otlptrace v1.45.0 // traces: spans as OTLP messages
	go.opentelemetry.io/otel/sdk v1.45.0 // traces: sampling, the bounded queue of spans
	go.opentelemetry.io/otel/trace v1.45.0 // traces: spans
	go.opentelemetry.io/proto/otlp v1.11.0 // traces: the messages of OTLP
	golang.org/x/crypto v0.58.0 // argon2 with a chosen salt, for repeatable demo data
	golang.org/x/net v0.62.0 // limit of open connections
	golang.org/x/oauth2 v0.37.0 // tests: an OAuth client that is not ours
	golang.org/x/sync v0.24.0 // writing the tables of a load side by side; one lookup for many requests
	golang.org/x/term v0.47.0 // password prompts; whether a progress bar is seen
	golang.org/x/text v0.43.0 // case folding, accents
	golang.org/x/tools v0.51.0 // of the generator: imports
	google.golang.org/protobuf v1.36.12 // traces: the encoding of OTLP
	modernc.org/libc v1.77.1 // what modernc.org/sqlite is called with; the version that it wants
	modernc.org/sqlite v1.60.0 // SQLite without C
)

require github.com/xuri/excelize/v2 v2.11.1

require (
	filippo.io/hpke v0.4.0 // indirect
	github.com/agext/levenshtein v1.2.3 // indirect
	github.com/andybalholm/brotli v1.2.2 // indirect
	github.com/apparentlymart/go-textseg/v15 v15.0.0 // indirect
	github.com/beorn7/perks v1.0.1 // indirect
	github.com/bmatcuk/doublestar v1.3.4 // indirect
	github.com/boombuler/barcode v1.0.1-0.20190219062509-6c824513bacc // indirect
	github.com/chromedp/sysutil v1.1.0 // indirect
	github.com/dlclark/regexp2 v1.12.0 // indirect
	github.com/dustin/go-humanize v1.0.1 // indirect
	github.com/fatih/color v1.19.0 // indirect
	github.com/fxamacker/cbor/v2 v2.9.4 // indirect
	github.com/ghodss/yaml v1.0.0 // indirect
	github.com/go-json-experiment/json v0.0.0-20250725192818-e39067aee2d2 // indirect
	github.com/go-logr/logr v1.4.4 // indirect
	github.com/go-logr/stdr v1.2.2 // indirect
	github.com/go-openapi/inflect v0.19.0 // indirect
	github.com/go-openapi/jsonpointer v0.21.0 // indirect
	github.com/go-openapi/swag v0.23.0 // indirect
	github.com/go-viper/mapstructure/v2 v2.5.0 // indirect
	github.com/go-webauthn/x v0.3.1 // indirect
	github.com/gobwas/httphead v0.1.0 // indirect
	github.com/gobwas/pool v0.2.1 // indirect
	github.com/gobwas/ws v1.4.0 // indirect
	github.com/golang-jwt/jwt/v5 v5.3.1 // indirect
	github.com/google/go-cmp v0.7.0 // indirect
	github.com/google/go-tpm v0.9.8 // indirect
	github.com/google/jsonschema-go v0.4.3 // indirect
	github.com/hashicorp/hcl/v2 v2.18.1 // indirect
	github.com/jackc/pgpassfile v1.0.0 // indirect
	github.com/jackc/pgservicefile v0.0.0-20240606120523-5a60cdf6a761 // indirect
	github.com/jackc/puddle/v2 v2.2.3 // indirect
	github.com/josharian/intern v1.0.0 // indirect
	github.com/klauspost/compress v1.20.1 // indirect
	github.com/mailru/easyjson v0.7.7 // indirect
	github.com/mattn/go-colorable v0.1.14 // indirect
	github.com/mattn/go-isatty v0.0.24 // indirect
	github.com/mattn/go-runewidth v0.0.16 // indirect
	github.com/mitchellh/colorstring v0.0.0-20190213212951-d06e56a500db // indirect
	github.com/mitchellh/go-wordwrap v1.0.1 // indirect
	github.com/mohae/deepcopy v0.0.0-20170929034955-c48cc78d4826 // indirect
	github.com/munnerz/goautoneg v0.0.0-20191010083416-a7dc8b61c822 // indirect
	github.com/ncruces/go-strftime v1.0.0 // indirect
	github.com/oasdiff/yaml v0.0.0-20250309154309-f31be36b4037 // indirect
	github.com/oasdiff/yaml3 v0.0.0-20250309153720-d2182401db90 // indirect
	github.com/parquet-go/bitpack v1.0.0 // indirect
	github.com/parquet-go/jsonlite v1.0.0 // indirect
	github.com/perimeterx/marshmallow v1.1.5 // indirect
	github.com/philhofer/fwd v1.2.0 // indirect
	github.com/pierrec/lz4/v4 v4.1.21 // indirect
	github.com/prometheus/client_model v0.6.3 // indirect
	github.com/prometheus/common v0.72.0 // indirect
	github.com/prometheus/procfs v0.22.0 // indirect
	github.com/remyoudompheng/bigfft v0.0.0-20230129092748-24d4a6f8daec // indirect
	github.com/richardlehane/mscfb v1.0.9 // indirect
	github.com/richardlehane/msoleps v1.0.6 // indirect
	github.com/rivo/uniseg v0.4.7 // indirect
	github.com/segmentio/asm v1.2.1 // indirect
	github.com/segmentio/encoding v0.5.4 // indirect
	github.com/shopspring/decimal v1.4.0 // indirect
	github.com/stoewer/go-strcase v1.2.0 // indirect
	github.com/tiendc/go-deepcopy v1.7.2 // indirect
	github.com/tinylib/msgp v1.6.4 // indirect
	github.com/twpayne/go-geom v1.6.1 // indirect
	github.com/x448/float16 v0.8.4 // indirect
	github.com/xuri/efp v0.0.3-0.20260924042702-217b81952dec // indirect
	github.com/xuri/nfp v0.0.2-0.20250530014748-2ddeb826f9a9 // indirect
	github.com/yosida95/uritemplate/v3 v3.0.2 // indirect
	github.com/zclconf/go-cty v1.14.4 // indirect
	github.com/zclconf/go-cty-yaml v1.1.0 // indirect
	go.opentelemetry.io/auto/sdk v1.2.1 // indirect
	go.opentelemetry.io/otel/metric v1.45.0 // indirect
	go.uber.org/multierr v1.11.0 // indirect
	go.uber.org/zap v1.28.0 // indirect
	golang.org/x/exp v0.0.0-20230725093048-515e97ebf090 // indirect
	golang.org/x/mod v0.41.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/time v0.15.0 // indirect
	gopkg.in/yaml.v2 v2.4.0 // indirect
	gopkg.in/yaml.v3 v3.0.1 // indirect
	modernc.org/mathutil v1.7.1 // indirect
	modernc.org/memory v1.12.1 // indirect
)
