import AppSimulator
import PushSupport
import PushTesting
import Testing

@Suite("The counts of many readers") struct FleetTallyTests {
    @Test("Each step counts, and a reader's download is under way until its end")
    func counts() {
        let tally = FleetTally()
        tally.registered()
        tally.woken()
        tally.record(.downloading(product: "a", from: 0, of: 10), reader: 1)
        tally.record(.waiting(product: "a", seconds: 2, reason: "x"), reader: 1)
        tally.record(.downloading(product: "a", from: 5, of: 10), reader: 1)
        tally.record(.downloading(product: "a", from: 0, of: 10), reader: 2)
        #expect(tally.counts.downloading == 2)
        tally.record(.downloaded(product: "a", bytes: 10), reader: 1)
        tally.record(.failed(product: "a", reason: "x"), reader: 2)
        tally.record(.skipped(product: "b", .notOnWiFi), reader: 1)
        let counts = tally.counts
        #expect(counts.downloading == 0 && counts.resumed == 1 && counts.retried == 1 && counts.bytes == 10)
        #expect(
            counts.line
                == "registered 1, woken 1, shown 0, skipped 1 (1 not_on_wifi), downloading 0, done 1, 10 B, resumed 1, retried 1, "
                + "failed 1"
        )
        #expect(counts.json["skipped"] == ["not_on_wifi": 1])
    }
}
