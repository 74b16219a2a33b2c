import Foundation
package import NIOPosix
package import PushSupport
import Synchronization

/// Hashes and checks passwords on dedicated threads, and few at a time, because each hash takes much memory.
///
/// Clients at networks from which a user has signed in have a thread and a queue of their own, so that strangers, from
/// however many networks, cannot lock them out.
package final class PasswordHasher: Sendable {
    enum Verdict: Hashable {
        case wrong
        case right
        /// The verdict that the password is right, but its hash is outdated. `renewed` has to be stored instead.
        case outdated(renewed: String)
    }

    struct Caller {
        let identity: BudgetCaller.Identity
        /// A Boolean value that indicates whether a user has signed in from this network before, or is signed in now.
        let isKnown: Bool

        /// Creates a caller at a known network. `identity` is the user or the network.
        static func known(_ identity: BudgetCaller.Identity) -> Self { Caller(identity: identity, isKnown: true) }
        static func stranger(_ identity: BudgetCaller.Identity) -> Self { Caller(identity: identity, isKnown: false) }
    }

    private let parameters: StoredPassword.Parameters
    private let secret: String
    private let threads, strangersThreads: NIOThreadPool
    private let places, strangersPlaces: Budget
    private let completed = Atomic(0)

    /// The thread for known networks. All hashers share it.
    package static let threads = PasswordHasher.makeThread()

    /// The thread for all other networks. Strangers can keep it busy permanently, so it has the lowest priority.
    package static let strangersThreads: NIOThreadPool = {
        let threads = PasswordHasher.makeThread()
        #if os(Linux)
        // On Linux, `nice` applies to the calling thread only.
        threads.submit { _ in _ = nice(10) }
        #endif
        return threads
    }()

    private static func makeThread() -> NIOThreadPool {
        let threads = NIOThreadPool(numberOfThreads: 1)
        threads.start()
        return threads
    }

    /// Creates a hasher.
    /// - Parameters:
    ///   - secret: The key with which hashes are authenticated (``PersonStore/passwordSecret``).
    ///   - places: The budget of concurrent hashes for known networks, from which a user has signed in.
    ///   - strangersPlaces: The budget of concurrent hashes for all other networks.
    package init(
        _ parameters: StoredPassword.Parameters = .standard,
        secret: String,
        places: Budget,
        strangersPlaces: Budget,
        threads: NIOThreadPool = PasswordHasher.threads,
        strangersThreads: NIOThreadPool = PasswordHasher.strangersThreads
    ) {
        (self.parameters, self.secret) = (parameters, secret)
        (self.threads, self.strangersThreads) = (threads, strangersThreads)
        (self.places, self.strangersPlaces) = (places, strangersPlaces)
    }

    var completedHashes: Int { self.completed.load(ordering: .relaxed) }

    /// Returns the stored form of a password.
    /// - Throws: ``RetryLaterError`` if too many requests wait.
    func hash(_ password: String, for caller: Caller) async throws -> String {
        try await self.admitted(caller) { try await $0.hash(password) }
    }

    /// Waits for a permit to hash passwords, and runs `body` with it.
    /// - Throws: ``RetryLaterError`` if too many requests wait, in which case `body` has not run.
    func admitted<Value>(_ caller: Caller, _ body: (Place) async throws -> Value) async throws -> Value {
        let budget = caller.isKnown ? self.places : self.strangersPlaces
        let permit: BudgetPermit
        do {
            permit = try await budget.wait(for: BudgetCaller(caller.identity))
        } catch let refusal as BudgetRefusal {
            let message = "too many people sign in at this moment: try again in a few seconds"
            let error = RequestError(.rateLimited, code: refusal.resource.row.code, message: message)
            throw RetryLaterError(error, after: refusal.delay)
        }
        defer { permit.end() }
        return try await body(Place(hasher: self, threads: caller.isKnown ? self.threads : self.strangersThreads))
    }

    struct Place: Sendable {
        fileprivate let hasher: PasswordHasher
        fileprivate let threads: NIOThreadPool

        func hash(_ password: String) async throws -> String {
            let hasher = self.hasher
            return try await self.threads.runIfActive { try hasher.newHash(of: password) }
        }

        /// Checks a password.
        /// - Parameter stored: The stored form, or `nil` if there is none. In that case the password counts as wrong,
        ///   after the same amount of work.
        func check(_ password: String, _ stored: String?) async throws -> Verdict {
            let hasher = self.hasher
            return try await self.threads.runIfActive {
                guard let hash = stored.flatMap({ StoredPassword(text: $0) }) else {
                    _ = try hasher.newHash(of: password)
                    return .wrong
                }
                hasher.completed.add(1, ordering: .relaxed)
                guard try hash.matches(password, secret: hasher.secret) else { return .wrong }
                guard hash.parameters != hasher.parameters else { return .right }
                return .outdated(renewed: try hasher.newHash(of: password))
            }
        }
    }

    private func newHash(of password: String) throws -> String {
        self.completed.add(1, ordering: .relaxed)
        return try StoredPassword(password, self.parameters, secret: self.secret).text
    }
}
