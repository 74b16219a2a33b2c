import Crypto
import Foundation
import PushTypes

/// The answers of publishers' servers about accounts and products.
///
/// It has two generations: once the younger one is full, it becomes the older one, whose answers are forgotten. An answer
/// that is used moves to the younger one. So its size is bounded, and nothing is searched.
struct EntitlementCache: Sendable {
    /// The number of answers, and the times for which they count.
    struct Limits: Hashable, Sendable {
        /// The most answers of all apps together.
        var count: Int
        /// The time for which a granted product needs no question.
        var grant: Duration
        /// The time for which a refused product needs no question.
        var refusal: Duration
        /// The time for which a granted product counts while the server does not answer.
        var known: Duration
    }

    /// The account of one version of an app's server. Neither its name nor its token is kept.
    struct Account: Hashable, Sendable {
        private let revision: UUID
        private let digest: SHA256Digest

        init(revision: UUID, account: String?, token: String?) {
            self.revision = revision
            var hash = SHA256()
            for text in [account, token] {
                let bytes = Array((text ?? "").utf8)
                withUnsafeBytes(of: UInt64(bytes.count).bigEndian) { hash.update(bufferPointer: $0) }
                hash.update(data: bytes)
            }
            self.digest = hash.finalize()
        }
    }

    /// A product of an account.
    struct Key: Hashable, Sendable {
        var account: Account
        var product: String
    }

    /// The answer about one product.
    enum Verdict: Hashable, Sendable {
        case granted, refused, accountRefused
    }

    private struct Entry: Sendable {
        var verdict: Verdict
        /// The steady clock.
        var at: Timestamp
    }

    private let limits: Limits
    private var younger: [Key: Entry] = [:]
    private var older: [Key: Entry] = [:]

    init(limits: Limits) { self.limits = limits }

    /// The number of answers that are kept.
    var count: Int { self.younger.count + self.older.count }

    /// Returns the answer about a product that needs no question; `nil` if there is none.
    mutating func verdict(_ key: Key, at now: Timestamp) -> Verdict? {
        guard let entry = self.entry(key) else { return nil }
        let lifetime = entry.verdict == .granted ? self.limits.grant : self.limits.refusal
        return Self.age(of: entry, at: now) < lifetime ? entry.verdict : nil
    }

    /// Returns `true` if a product was granted lately enough to count while the server does not answer.
    mutating func isKnown(_ key: Key, at now: Timestamp) -> Bool {
        guard let entry = self.entry(key), entry.verdict == .granted else { return false }
        return Self.age(of: entry, at: now) < self.limits.known
    }

    /// Keeps an answer, in place of an earlier one about the same product.
    mutating func keep(_ verdict: Verdict, for key: Key, at now: Timestamp) {
        self.insert(Entry(verdict: verdict, at: now), key)
    }

    private mutating func entry(_ key: Key) -> Entry? {
        if let entry = self.younger[key] { return entry }
        guard let entry = self.older[key] else { return nil }
        self.insert(entry, key)
        return entry
    }

    private mutating func insert(_ entry: Entry, _ key: Key) {
        self.older[key] = nil
        if self.younger[key] == nil, self.younger.count >= max(1, self.limits.count / 2) {
            self.older = self.younger
            self.younger = [:]
        }
        self.younger[key] = entry
    }

    private static func age(of entry: Entry, at now: Timestamp) -> Duration { now.since(entry.at) }
}
