package migrate

import (
	"errors"
	"testing"
)

func TestOldServersAreRefused(t *testing.T) {
	t.Parallel()
	for number, refused := range map[int]bool{130016: true, 140023: true, 150000: false, 170012: false} {
		if err := supported(number); errors.Is(err, ErrTooOld) != refused {
			t.Errorf("%d: %v", number, err)
		}
	}
}
