import Foundation
import PushTesting
import PushTypes
import Testing

@testable import PushProvider

/// The answers that are kept.
@Suite struct EntitlementCacheTests {
    /// A cache with a manual clock, for products of one account.
    private final class Subject {
        private var cache: EntitlementCache
        private let time = ManualTime()
        private let account = EntitlementCache.Account(revision: UUID(), account: "alice", token: nil)

        init(count: Int = 100) {
            let (grant, refusal, known) = (Duration.seconds(600), Duration.seconds(60), Duration.seconds(86_400))
            self.cache = EntitlementCache(limits: .init(count: count, grant: grant, refusal: refusal, known: known))
        }

        var count: Int { self.cache.count }

        func wait(_ duration: Duration) { self.time.advance(by: duration) }

        func keep(_ verdict: EntitlementCache.Verdict, _ product: String) {
            self.cache.keep(verdict, for: .init(account: self.account, product: product), at: self.time.steady)
        }

        func verdict(_ product: String) -> EntitlementCache.Verdict? {
            self.cache.verdict(.init(account: self.account, product: product), at: self.time.steady)
        }

        func isKnown(_ product: String) -> Bool {
            self.cache.isKnown(.init(account: self.account, product: product), at: self.time.steady)
        }
    }

    @Test func answersCountForTheirTime() {
        let subject = Subject()
        subject.keep(.granted, "a")
        subject.keep(.refused, "b")
        subject.keep(.accountRefused, "c")
        subject.wait(.seconds(59))
        #expect(subject.verdict("b") == .refused)
        #expect(subject.verdict("c") == .accountRefused)
        subject.wait(.seconds(1))
        #expect(subject.verdict("b") == nil)
        #expect(subject.verdict("c") == nil)
        #expect(subject.verdict("a") == .granted)
        subject.wait(.seconds(540))
        #expect(subject.verdict("a") == nil)
        #expect(subject.isKnown("a"))
        #expect(!subject.isKnown("b"))
        subject.wait(.seconds(86_400 - 600))
        #expect(!subject.isKnown("a"))
    }

    @Test func aRefusalEndsWhatWasKnown() {
        let subject = Subject()
        subject.keep(.granted, "a")
        subject.keep(.refused, "a")
        #expect(subject.verdict("a") == .refused)
        #expect(!subject.isKnown("a"))
        #expect(subject.count == 1)
    }

    /// Neither another account, nor another token, nor a later version of the server shares an answer.
    @Test func answersBelongToOneAccount() {
        let revision = UUID()
        let names: [(UUID, String?, String?)] = [
            (revision, "alice", nil), (revision, nil, "alice"), (revision, "alice", "t"), (revision, "alicet", nil),
            (revision, "a", "licet"), (UUID(), "alice", nil),
        ]
        let accounts = names.map { EntitlementCache.Account(revision: $0, account: $1, token: $2) }
        #expect(Set(accounts).count == accounts.count)
    }

    /// The accounts that somebody invents for one app push out no answer of another.
    @Test func anAppPushesOutItsOwnAnswersFirst() {
        let (day, time) = (Duration.seconds(86_400), ManualTime())
        var cache = EntitlementCache(limits: .init(count: 100, grant: day, refusal: day, known: day))
        let (server, flooded) = (UUID(), UUID())
        var most = 0
        let known = (0..<40).map { number in
            let account = EntitlementCache.Account(revision: server, account: "reader \(number)", token: nil)
            return EntitlementCache.Key(account: account, product: "a")
        }
        for key in known { cache.keep(.granted, for: key, at: time.steady) }
        for number in 0..<10_000 {
            let account = EntitlementCache.Account(revision: flooded, account: "invented \(number)", token: nil)
            cache.keep(.accountRefused, for: .init(account: account, product: "a"), at: time.steady)
            most = max(most, cache.count)
        }
        #expect(most == 100 && cache.count > 90)
        let kept = known.filter { cache.isKnown($0, at: time.steady) }
        #expect(kept == known)
    }

    @Test func itsSizeIsBounded() {
        let subject = Subject(count: 100)
        for number in 0..<10_000 {
            subject.keep(.granted, "p\(number)")
            #expect(subject.count <= 100)
            // One that is used stays.
            #expect(subject.isKnown("p0"))
        }
        #expect(subject.verdict("p9999") == .granted)
        #expect(subject.verdict("p1") == nil)
    }
}
