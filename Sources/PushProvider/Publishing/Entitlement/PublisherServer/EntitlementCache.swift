import Crypto
import Foundation
import PushTypes

/// The cache of publishers' verdicts about accounts and products.
///
/// The verdicts of each app are in generations, and a verdict that is used moves to the youngest generation. If there
/// are too many verdicts, the app with the most loses its oldest generation. So an app whose clients invent accounts
/// loses its own verdicts, and not those of other apps.
struct EntitlementCache: Sendable {
    struct Limits: Hashable, Sendable {
        /// The maximum number of verdicts of all apps together. Beyond it, the app with the most loses its oldest ones.
        var count: Int
        /// The time for which a grant is used without another request to the server.
        var grant: Duration
        /// The time for which a refusal is used without another request to the server.
        var refusal: Duration
        /// The time for which a grant is remembered, so that it still applies while the server does not respond.
        var known: Duration
    }

    /// An account at one version of an app's server settings. Only a digest of its name and token is kept.
    struct Account: Hashable, Sendable {
        fileprivate let revision: UUID
        private let digest: SHA256Digest

        /// The name of the account in budgets, derived from the digest.
        var name: String { self.digest.map { String($0, radix: 16) }.joined(separator: "-") }

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

    struct Key: Hashable, Sendable {
        var account: Account
        var product: String
    }

    enum Verdict: Hashable, Sendable {
        case granted, refused, accountRefused
    }

    private struct Entry: Sendable {
        var verdict: Verdict
        /// The time at which the verdict was received, by the steady clock.
        var at: Timestamp
    }

    /// The maximum number of generations of a share, beyond which the two oldest are merged. A generation contains at
    /// most `1 / generations` of the maximum number of verdicts.
    private static let generations = 20

    /// The verdicts for one version of an app's server settings.
    private struct Share: Sendable {
        /// The generations, the youngest last.
        private var generations: [[Key: Entry]] = []

        var count: Int { self.generations.reduce(0) { $0 + $1.count } }

        /// Returns a verdict, or `nil` if there is none. `isYoung` is `true` if it is in the youngest generation.
        func entry(_ key: Key) -> (entry: Entry, isYoung: Bool)? {
            for (index, generation) in self.generations.enumerated().reversed() {
                if let entry = generation[key] { return (entry, index == self.generations.count - 1) }
            }
            return nil
        }

        mutating func remove(_ key: Key) {
            for index in self.generations.indices { self.generations[index][key] = nil }
        }

        /// Adds a verdict to the youngest generation.
        /// - Parameter size: The maximum number of verdicts in a generation.
        mutating func insert(_ entry: Entry, _ key: Key, size: Int) {
            if self.generations.last.map({ $0.count >= size }) ?? true {
                if self.generations.count >= EntitlementCache.generations {
                    let second = self.generations.remove(at: 1)
                    self.generations[0].merge(second) { $1 }
                }
                self.generations.append([:])
            }
            self.generations[self.generations.count - 1][key] = entry
        }

        mutating func removeOldest() {
            guard !self.generations.isEmpty else { return }
            self.generations.removeFirst()
        }
    }

    private let limits: Limits
    /// The shares of the cache, keyed by the version of the server settings.
    private var shares: [UUID: Share] = [:]
    private(set) var count = 0

    init(limits: Limits) { self.limits = limits }

    /// Returns the cached verdict about a product, or `nil` if the server must be queried.
    mutating func verdict(_ key: Key, at now: Timestamp) -> Verdict? {
        guard let entry = self.entry(key) else { return nil }
        let lifetime = entry.verdict == .granted ? self.limits.grant : self.limits.refusal
        return Self.age(of: entry, at: now) < lifetime ? entry.verdict : nil
    }

    /// Returns whether a product was granted recently enough to be granted while the server does not respond.
    mutating func isKnown(_ key: Key, at now: Timestamp) -> Bool {
        guard let entry = self.entry(key), entry.verdict == .granted else { return false }
        return Self.age(of: entry, at: now) < self.limits.known
    }

    /// Caches a verdict, which replaces an earlier one about the same account and product.
    mutating func keep(_ verdict: Verdict, for key: Key, at now: Timestamp) {
        self.insert(Entry(verdict: verdict, at: now), key)
    }

    private mutating func entry(_ key: Key) -> Entry? {
        guard let (entry, isYoung) = self.shares[key.account.revision]?.entry(key) else { return nil }
        if !isYoung { self.insert(entry, key) }
        return entry
    }

    private mutating func insert(_ entry: Entry, _ key: Key) {
        let server = key.account.revision
        self.change(server) { $0.remove(key) }
        while self.count >= max(1, self.limits.count), let largest = self.largest {
            self.change(largest) { $0.removeOldest() }
        }
        let size = max(1, self.limits.count / Self.generations)
        self.change(server) { $0.insert(entry, key, size: size) }
    }

    private mutating func change(_ server: UUID, _ body: (inout Share) -> Void) {
        // The share is removed during the change, so that it is not copied.
        var share = self.shares.removeValue(forKey: server) ?? Share()
        self.count -= share.count
        body(&share)
        self.count += share.count
        if share.count > 0 { self.shares[server] = share }
    }

    /// The key of the share with the most verdicts, or `nil` if there is none.
    private var largest: UUID? { self.shares.max { $0.value.count < $1.value.count }?.key }

    private static func age(of entry: Entry, at now: Timestamp) -> Duration { now.since(entry.at) }
}
