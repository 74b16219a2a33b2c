import Foundation
import ProviderModel
import PushTypes
import Synchronization

/// The sign-in locks that are kept in memory: those of networks, of users at networks from which they have signed in,
/// and of users who change their password.
///
/// The locks of names must survive a restart, so they are in the store (``SessionStore/changeSignInLock(of:now:_:)``).
final class SignInLockTable: Sendable {
    /// The network or user whose failed attempts a lock counts.
    enum Subject: Hashable, Sendable {
        /// All networks of one site (``SignInNetwork/site``). A site may have 65,536 IPv6 networks.
        case network(site: [UInt8])
        case known(UUID, SignInNetwork)
        case password(UUID)

        fileprivate var limits: SignInLock.Limits {
            switch self {
            case .network: .network
            case .known, .password: .known
            }
        }
    }

    /// The maximum number of locks. When it is reached, the least recently used tenth is removed.
    private static let maximum = 50_000

    private let locks = Mutex<[Subject: SignInLock]>([:])

    /// Decides whether an attempt to sign in may proceed or has to wait, and counts it.
    func attempt(_ subject: Subject, now: Timestamp) -> SignInLock.Decision {
        self.locks.withLock { locks in
            if locks.count >= Self.maximum, locks[subject] == nil { Self.forget(&locks, now: now) }
            return locks[subject, default: SignInLock()].attempt(now: now, subject.limits)
        }
    }

    /// Records that an attempt has succeeded. It forgets all failures of a user, but only this attempt of a network.
    func succeeded(_ subject: Subject) {
        self.locks.withLock { locks in
            guard case .network = subject else { return locks[subject] = nil }
            locks[subject]?.succeeded()
        }
    }

    private static func forget(_ locks: inout [Subject: SignInLock], now: Timestamp) {
        locks = locks.filter { !$0.value.isForgotten(now: now) }
        let surplus = locks.count - Self.maximum * 9 / 10
        guard surplus > 0 else { return }
        for (subject, _) in locks.sorted(by: { $0.value.at < $1.value.at }).prefix(surplus) { locks[subject] = nil }
    }
}
