import ProviderModel
import PushStore
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushProvider

@Suite struct WebhookStateMachineTests {
    let start = Timestamp(seconds: 1_700_000_000)

    @Test func aFailureWaitsLongerEachTimeUpTo15Minutes() throws {
        var generator = SeededGenerator(seed: 1)
        var webhook = WebhookStateMachine(.fixture(port: 1))
        var now = self.start
        var longest: Duration = .zero
        for failure in 1...60 {
            #expect(webhook.isDue(at: now))
            webhook.failed(.noResponse(reason: "none"), at: ClockReading(now), using: &generator)
            let next = try #require(webhook.record.nextTryAt)
            let limit = WebhookPolicy().backoff.limit(afterFailures: failure)
            #expect(next.since(now) <= min(limit, .seconds(900)))
            if next > now {
                #expect(!webhook.isDue(at: now))
            }
            longest = max(longest, next.since(now))
            now = next
        }
        #expect(longest > .seconds(600))
        #expect(webhook.record.failures == 60)
        #expect(webhook.record.lastError == "no response: none")
        #expect(webhook.record.cursor == 0)
    }

    @Test func aSuccessForgetsFailures() {
        var generator = SeededGenerator(seed: 2)
        var webhook = WebhookStateMachine(.fixture(port: 1))
        webhook.failed(.status(500, retryAfter: nil), at: ClockReading(self.start), using: &generator)
        webhook.accepted(through: 12, at: self.start)
        #expect(webhook.record.cursor == 12)
        #expect(webhook.record.failures == 0)
        #expect(webhook.record.nextTryAt == nil)
        #expect(webhook.record.lastError == nil)
        #expect(webhook.record.lastSuccessAt == self.start)
        #expect(webhook.isDue(at: self.start))
    }

    @Test func retryAfterCountsUpToAnHour() {
        var generator = SeededGenerator(seed: 3)
        var webhook = WebhookStateMachine(.fixture(port: 1))
        webhook.failed(.status(503, retryAfter: .seconds(120)), at: ClockReading(self.start), using: &generator)
        #expect(webhook.record.nextTryAt == self.start.advanced(by: .seconds(120)))
        webhook.failed(
            .status(429, retryAfter: .seconds(4_000_000_000)),
            at: ClockReading(self.start),
            using: &generator
        )
        #expect(webhook.record.nextTryAt == self.start.advanced(by: .seconds(3600)))
    }

    @Test func aReceiverThatIsGoneEndsTheWebhook() {
        var generator = SeededGenerator(seed: 4)
        var webhook = WebhookStateMachine(.fixture(port: 1))
        webhook.failed(.status(410, retryAfter: nil), at: ClockReading(self.start), using: &generator)
        #expect(!webhook.record.isActive)
        #expect(!webhook.isDue(at: self.start.advanced(by: .seconds(86_400))))
        #expect(webhook.record.lastError?.hasPrefix("disabled: ") == true)
        var (change, record) = (WebhookChange(), webhook.record)
        change.isEnabled = true
        change.apply(to: &record)
        #expect(WebhookStateMachine(record).isDue(at: self.start))
        #expect(record.lastError == nil)
    }

    @Test func daysOfFailureEndTheWebhook() {
        var generator = SeededGenerator(seed: 5)
        var webhook = WebhookStateMachine(.fixture(port: 1))
        webhook.accepted(through: 1, at: self.start)
        var now = self.start
        while webhook.record.isActive, webhook.record.failures < 10_000 {
            webhook.failed(.status(500, retryAfter: nil), at: ClockReading(now), using: &generator)
            now = webhook.record.nextTryAt ?? now
        }
        #expect(!webhook.record.isActive)
        #expect(now.since(self.start) >= .seconds(3 * 86_400))
        #expect(now.since(self.start) < .seconds(4 * 86_400))
        #expect(webhook.record.lastError?.contains("72 h") == true)
        #expect(webhook.record.cursor == 1)
    }

    @Test func whatIsNotPostedEndsNoWebhook() throws {
        var generator = SeededGenerator(seed: 8)
        var webhook = WebhookStateMachine(.fixture(port: 1))
        let later = self.start.advanced(by: .seconds(30 * 86_400))
        for _ in 0..<1000 { webhook.failed(.notPosted(reason: "busy"), at: ClockReading(later), using: &generator) }
        #expect(webhook.record.isActive && webhook.record.failures == 0)
        #expect(webhook.record.lastError == "not posted: busy")
        let next = try #require(webhook.record.nextTryAt)
        #expect(next.since(later) <= .seconds(1))
    }

    @Test func aWebhookThatHadNothingToTakeForDaysIsNotEndedByAFewFailures() {
        var generator = SeededGenerator(seed: 6)
        var webhook = WebhookStateMachine(.fixture(port: 1))
        let later = self.start.advanced(by: .seconds(30 * 86_400))
        for _ in 0..<100 { webhook.failed(.status(500, retryAfter: nil), at: ClockReading(later), using: &generator) }
        #expect(webhook.record.isActive)
    }

    @Test func aDamagedRecordDoesNotCrash() {
        var generator = SeededGenerator(seed: 7)
        var record = WebhookRecord.fixture(port: 1)
        record.failures = .max
        record.createdAt = Timestamp(milliseconds: .min)
        record.lastSuccessAt = nil
        var webhook = WebhookStateMachine(record)
        webhook.failed(.noResponse(reason: ""), at: ClockReading(Timestamp(milliseconds: .max)), using: &generator)
        #expect(!webhook.record.isActive)
        record.failures = .min
        webhook = WebhookStateMachine(record)
        webhook.failed(.noResponse(reason: ""), at: ClockReading(Timestamp(milliseconds: .max)), using: &generator)
        #expect(webhook.record.isActive)
    }
}
