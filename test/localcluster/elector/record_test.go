package elector

import (
	"bytes"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

func TestReadRecords(t *testing.T) {
	g := NewWithT(t)
	at := time.Date(2026, 1, 1, 0, 0, 0, 1, time.UTC)
	want := []Record{{Identity: "a_1", Leads: true, At: at}, {Identity: "a_1", At: at.Add(time.Second)}}
	log := bytes.NewBufferString("I0101 starting\n")
	for _, r := range want {
		g.Expect(r.Write(log)).To(Succeed())
		log.WriteString("{not a record\n")
	}
	log.WriteString(`{"identity":"a_1","leads":tr`)
	g.Expect(ReadRecords(log)).To(Equal(want))
}
