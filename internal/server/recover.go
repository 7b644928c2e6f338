package server

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"

	"chairside/internal/apierror"
)

// recoverPanic turns a panic into a 500 and logs where it happened.
func (s *Server) recoverPanic(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			reason := recover()
			if reason == nil {
				return
			}
			if err, ok := reason.(error); ok && errors.Is(err, http.ErrAbortHandler) {
				panic(reason) // asks net/http to drop the connection
			}
			x := stateOf(r.Context())
			s.Logger.Error("panic", slog.String("request_id", x.id), slog.String("operation", x.name),
				slog.String("stack", string(debug.Stack())))
			err, ok := reason.(error)
			if !ok {
				err = fmt.Errorf("panic with a %T", reason) // the value itself may be private
			}
			if written, ok := w.(*responseWriter); ok && written.status != 0 {
				x.failed = http.StatusInternalServerError // for accessLog
				panic(http.ErrAbortHandler)               // the response has begun
			}
			x.r = r // not an inner handler's request, whose context has ended
			s.fail(w, x, apierror.Internal(err))
		}()
		next.ServeHTTP(w, r)
	})
}
