import Foundation
import PushTypes
import Testing

@testable import PushProvider

@Suite struct WebhookTurnsTests {
    let ids = (0..<10).map { _ in UUID() }

    @Test func oneTurnAtATimeForEachAndAnotherAfterwards() {
        var turns = WebhookQueue(limits: WebhookLimits())
        turns.offer(self.ids[0], isFailing: false)
        turns.offer(self.ids[0], isFailing: false)
        #expect(self.all(&turns) == [self.ids[0]])
        turns.offer(self.ids[0], isFailing: false)
        turns.offer(self.ids[1], isFailing: false)
        #expect(self.all(&turns) == [self.ids[1]])
        turns.ended(self.ids[0])
        #expect(self.all(&turns) == [self.ids[0]])
    }

    @Test func failingReceiversTakeOnlyAPartOfThePlaces() {
        var limits = WebhookLimits()
        (limits.inFlight, limits.inFlightFailing) = (4, 2)
        var turns = WebhookQueue(limits: limits)
        for id in self.ids[0..<5] { turns.offer(id, isFailing: true) }
        #expect(self.all(&turns) == Array(self.ids[0..<2]))
        for id in self.ids[5..<10] { turns.offer(id, isFailing: false) }
        #expect(self.all(&turns) == Array(self.ids[5..<7]))
        turns.ended(self.ids[0])
        #expect(self.all(&turns) == [self.ids[7]])
        turns.ended(self.ids[5])
        turns.ended(self.ids[6])
        #expect(self.all(&turns) == [self.ids[8], self.ids[9]])
        turns.ended(self.ids[7])
        #expect(self.all(&turns) == [self.ids[2]])
    }

    @Test func failingReceiversComeBackWhenAllOthersAreBusy() {
        var limits = WebhookLimits()
        (limits.inFlight, limits.inFlightFailing) = (2, 1)
        var turns = WebhookQueue(limits: limits)
        for id in self.ids[0..<3] { turns.offer(id, isFailing: false) }
        turns.offer(self.ids[3], isFailing: true)
        #expect(self.all(&turns) == [self.ids[0], self.ids[3]])
        turns.ended(self.ids[0])
        #expect(self.all(&turns) == [self.ids[1]])
    }

    @Test(arguments: [
        ("120", Duration.seconds(120)), ("0", .zero), ("Tue, 14 Nov 2023 22:14:20 GMT", .seconds(60)),
        ("Tue, 14 Nov 2000 22:14:20 GMT", .zero), ("4294967295", .seconds(4_294_967_295)),
    ])
    func retryAfterIsSecondsOrADate(text: String, duration: Duration) {
        #expect(RetryAfter.read(text, now: Timestamp(seconds: 1_700_000_000)) == duration)
    }

    @Test(arguments: ["", "-1", "1.5", "soon", "99999999999999999999", String(repeating: "1", count: 10_000), "Tue"])
    func retryAfterThatIsNeitherIsNone(text: String) {
        #expect(RetryAfter.read(text, now: Timestamp(seconds: 1_700_000_000)) == nil)
        #expect(RetryAfter.read(nil, now: Timestamp(seconds: 1_700_000_000)) == nil)
    }

    private func all(_ turns: inout WebhookQueue) -> [UUID] {
        var begun: [UUID] = []
        while let id = turns.next() { begun.append(id) }
        return begun
    }
}
