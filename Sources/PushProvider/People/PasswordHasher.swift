package import NIOPosix
import PushSupport
import Synchronization

/// Hashes and checks passwords on threads of their own, few at a time, because each takes much memory.
package final class PasswordHasher: Sendable {
    /// The result of a check.
    enum Verdict: Hashable {
        case wrong
        case right
        /// It is right, and stored with other parameters than new ones: this is the text to store instead.
        case outdated(renewed: String)
    }

    /// The hashes at the same time, and those that wait besides.
    private static let (maximumRunning, maximumWaiting) = (2, 14)

    private let parameters: PasswordHash.Parameters
    private let secret: String
    private let threads: NIOThreadPool
    private let admitted = Mutex(0)

    /// The threads of all hashers.
    package static let threads: NIOThreadPool = {
        let threads = NIOThreadPool(numberOfThreads: PasswordHasher.maximumRunning)
        threads.start()
        return threads
    }()

    /// - Parameter secret: The key of the hashes (``PersonStore/passwordSecret``).
    package init(
        _ parameters: PasswordHash.Parameters = .standard,
        secret: String,
        threads: NIOThreadPool = PasswordHasher.threads
    ) {
        (self.parameters, self.secret, self.threads) = (parameters, secret, threads)
    }

    /// The number of hashes that run or wait.
    var inProgress: Int { self.admitted.withLock { $0 } }

    /// Returns the text to store for a password.
    ///
    /// - Throws: ``RetryLaterError`` if too many wait.
    func hash(_ password: String) async throws -> String { try await self.admitted { try await $0.hash(password) } }

    /// Checks a password, see ``Place/check(_:_:)``.
    ///
    /// - Throws: ``RetryLaterError`` if too many wait.
    func check(_ password: String, _ stored: String?) async throws -> Verdict {
        try await self.admitted { try await $0.check(password, stored) }
    }

    /// Runs a body with a place among those that hash or wait.
    ///
    /// - Throws: ``RetryLaterError`` if too many do, without having run the body.
    func admitted<Value>(_ body: (Place) async throws -> Value) async throws -> Value {
        let isAdmitted = self.admitted.withLock { count in
            guard count < Self.maximumRunning + Self.maximumWaiting else { return false }
            count += 1
            return true
        }
        guard isAdmitted else {
            let message = "too many people sign in at this moment: try again in a few seconds"
            throw RetryLaterError(RequestError(.rateLimited, code: "busy", message: message), after: .seconds(2))
        }
        defer { self.admitted.withLock { $0 -= 1 } }
        return try await body(Place(hasher: self))
    }

    /// A place among those that hash or wait.
    struct Place: Sendable {
        fileprivate let hasher: PasswordHasher

        func hash(_ password: String) async throws -> String {
            let (parameters, secret) = (self.hasher.parameters, self.hasher.secret)
            return try await self.hasher.threads.runIfActive {
                try PasswordHash(password, parameters, secret: secret).text
            }
        }

        /// Checks a password.
        ///
        /// - Parameter stored: The stored text; `nil` for none, which takes the same time and is wrong.
        func check(_ password: String, _ stored: String?) async throws -> Verdict {
            let (parameters, secret) = (self.hasher.parameters, self.hasher.secret)
            return try await self.hasher.threads.runIfActive {
                guard let hash = stored.flatMap({ PasswordHash(text: $0) }) else {
                    _ = try PasswordHash(password, parameters, secret: secret)
                    return .wrong
                }
                guard try hash.matches(password, secret: secret) else { return .wrong }
                guard hash.parameters != parameters else { return .right }
                return .outdated(renewed: try PasswordHash(password, parameters, secret: secret).text)
            }
        }
    }
}
