import NIOCore
import NIOPosix
import PushSupport
import Synchronization

/// Hashes and checks passwords beside the event loops, few at a time, because each takes much memory.
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
    private let running = CountingSemaphore(count: PasswordHasher.maximumRunning)
    private let admitted = Mutex(0)

    /// - Parameter secret: The key of the hashes (``PersonStore/passwordSecret``).
    package init(_ parameters: PasswordHash.Parameters = .standard, secret: String) {
        (self.parameters, self.secret) = (parameters, secret)
    }

    /// Returns the text to store for a password.
    ///
    /// - Throws: ``RetryLaterError`` if too many wait.
    func hash(_ password: String) async throws -> String {
        try await self.run { [parameters, secret] in try PasswordHash(password, parameters, secret: secret).text }
    }

    /// Checks a password.
    ///
    /// - Parameter stored: The stored text; `nil` for none, which takes the same time and is wrong.
    /// - Throws: ``RetryLaterError`` if too many wait.
    func check(_ password: String, _ stored: String?) async throws -> Verdict {
        try await self.run { [parameters, secret] in
            guard let hash = stored.flatMap({ PasswordHash(text: $0) }) else {
                _ = try PasswordHash(password, parameters, secret: secret)
                return .wrong
            }
            guard try hash.matches(password, secret: secret) else { return .wrong }
            guard hash.parameters != parameters else { return .right }
            return .outdated(renewed: try PasswordHash(password, parameters, secret: secret).text)
        }
    }

    private func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
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
        return try await self.running.run { try await NIOThreadPool.singleton.runIfActive(body) }
    }
}
