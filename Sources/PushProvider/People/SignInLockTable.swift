import Foundation
import ProviderModel
import PushTypes
import Synchronization

/// The locks that are kept in memory: those of networks, of people at networks from which they have signed in, and of
/// people who change their password.
///
/// The locks of names are in the store (``SessionStore/changeSignInLock(of:now:_:)``), because they must survive a restart.
final class SignInLockTable: Sendable {
    /// The subject of a lock.
    enum Subject: Hashable, Sendable {
        /// All networks of one site (``NetworkAddress/site``). A site may have 65,536 networks of IPv6.
        case network(site: [UInt8])
        case known(UUID, NetworkAddress)
        case password(UUID)

        fileprivate var limits: SignInLock.Limits {
            switch self {
            case .network: .network
            case .known, .password: .known
            }
        }
    }

    /// The maximum number of locks. Beyond it, the tenth that was not used for the longest time is removed.
    private static let maximum = 50_000

    private let locks = Mutex<[Subject: SignInLock]>([:])

    /// Decides whether an attempt may proceed, and counts it.
    func attempt(_ subject: Subject, now: Timestamp) -> SignInLock.Decision {
        self.locks.withLock { locks in
            if locks.count >= Self.maximum, locks[subject] == nil { Self.forget(&locks, now: now) }
            return locks[subject, default: SignInLock()].attempt(now: now, subject.limits)
        }
    }

    /// Stops counting an attempt that has succeeded. For a person, all failures are forgotten; for a network, only this
    /// attempt.
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

/// The network from which a person signs in: an IPv4 address, or the first 64 bits of an IPv6 address, which one customer has.
struct NetworkAddress: Hashable, Sendable {
    /// The 4 or 8 bytes of the network; for a text that is no address, the first 64 bytes of its UTF-8.
    let bytes: [UInt8]

    /// The network, or the first 48 bits of an IPv6 address, which one site has.
    var site: [UInt8] { self.bytes.count == 8 ? Array(self.bytes.prefix(6)) : self.bytes }

    /// - Parameter address: The text of an IP address.
    init(_ address: String) {
        guard let bytes = IPAddress(address)?.bytes else {
            self.bytes = Array(address.utf8.prefix(64))
            return
        }
        let isMapped = bytes.count == 16 && bytes.starts(with: [UInt8](repeating: 0, count: 10) + [0xff, 0xff])
        self.bytes = bytes.count == 4 ? bytes : isMapped ? Array(bytes.suffix(4)) : Array(bytes.prefix(8))
    }
}
