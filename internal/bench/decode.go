package bench

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
)

// decode measures the codec on one core, against reading the same text's tokens
// and doing nothing with them.
func (b *bench) decode(context.Context) error {
	c, err := codec()
	if err != nil {
		return err
	}
	for _, m := range []struct {
		what, text string
		rounds     int
	}{
		{"FLOP of 2 KB", "<MSG>" + header(1, "FLOP", "REMC") + "<FLOP><FLID>1</FLID><REMC>" + strings.Repeat("雷雨绕飞 ", 140) + "</REMC></FLOP></MSG>", 4000},
		{"DNLD of 1000 flights", download(1000), 20},
	} {
		text := []byte(m.text)
		sides := []*side{
			{what: "limit: encoding/xml, " + m.what, run: each(0, func(int) error { return tokens(text) })},
			{what: "decode, " + m.what, run: each(0, func(int) error {
				_, err := c.Decode(text, b.o.Now())
				return err
			})},
		}
		if err := b.race(sides, 0, m.rounds, turns); err != nil {
			return err
		}
		for i, s := range sides {
			r := Result{What: s.what, Value: median(s.rate) * float64(len(text)) / 1e6, Unit: "MB/s, one core"}
			if i > 0 {
				r.Of = sides[0].what
			}
			b.add(r)
		}
	}
	return nil
}

func tokens(text []byte) error {
	d := xml.NewDecoder(bytes.NewReader(text))
	for {
		if _, err := d.RawToken(); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("read a token: %w", err)
		}
	}
}
