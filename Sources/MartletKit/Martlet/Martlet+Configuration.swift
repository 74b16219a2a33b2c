public import Foundation

extension Martlet {
    /// The settings of ``Martlet``, which an app and its extension share.
    public struct Configuration: Hashable, Sendable {
        /// The base URL of the provider.
        public let provider: URL
        /// The bundle id of the app. An extension also uses the bundle id of the app.
        public let app: String
        /// The public API key of the app, `mk_public_…`, which permits an installation only to register itself. Every
        /// copy of the app contains it.
        public let key: String
        /// The push environment of the app's tokens. It is `nil` for the detected one
        /// (``PushEnvironment/detected(in:)``), or production if detection fails.
        public var environment: PushEnvironment?
        /// The process in which ``Martlet`` runs. The default is the app.
        public var role = Role.app
        /// The time after which a confirmed registration is sent again, in seconds. The default is a day, so that the
        /// provider knows which installations are in use.
        public var refreshInterval: TimeInterval = 24 * 3600
        /// The maximum time for which ``Martlet/receive(_:_:)`` waits until receipts are sent. Unsent ones are kept for
        /// the next call. `nil` means 20 seconds in the app, to which the system gives 30 seconds in the background,
        /// and 2 seconds in the extension, because the user waits for its content.
        public var receiveTimeout: Duration?

        /// The value of ``receiveTimeout``, or the default for the role.
        var sendingTime: Duration { self.receiveTimeout ?? (self.role == .app ? .seconds(20) : .seconds(2)) }

        /// The kind of process in which ``Martlet`` runs.
        public enum Role: Hashable, Sendable {
            case app
            /// A notification service extension, which creates and sends receipts and changes nothing else.
            case serviceExtension
        }

        /// Creates settings with a provider, the bundle id of an app and the app's public API key, and checks them.
        /// - Throws: ``ConfigurationError`` that names the wrong setting.
        public init(provider: URL, app: String, key: String) throws(ConfigurationError) {
            let isTLS = provider.scheme?.lowercased() == "https"
            guard let host = provider.host(), !host.isEmpty, isTLS || Self.isLocal(host, scheme: provider.scheme) else {
                throw .insecureProvider
            }
            guard (1...255).contains(app.utf8.count), app.utf8.allSatisfy({ $0.isName && $0 != UInt8(ascii: "_") })
            else {
                throw .invalidApp
            }
            guard key.hasPrefix("mk_public_"), key.utf8.count <= 200, key.utf8.allSatisfy({ (33...126).contains($0) })
            else { throw .notPublicKey }
            (self.provider, self.app, self.key) = (provider, app, key)
        }

        /// Returns whether a URL is an `http` URL of a loopback host, where simulators may use a provider without TLS.
        private static func isLocal(_ host: String, scheme: String?) -> Bool {
            guard scheme?.lowercased() == "http" else { return false }
            let parts = host.split(separator: ".", omittingEmptySubsequences: false)
            let isLoopback = parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
            return isLoopback || ["localhost", "::1", "[::1]"].contains(host.lowercased())
        }
    }

    /// An error of ``Configuration``.
    public enum ConfigurationError: Error, Hashable, Sendable, CustomStringConvertible {
        case insecureProvider
        case invalidApp
        case notPublicKey

        public var description: String {
            switch self {
            case .insecureProvider: "the provider needs an https URL; http is for 127.0.0.1 and localhost only"
            case .invalidApp: "the app is a bundle id of letters, digits, dots and hyphens"
            case .notPublicKey:
                "an app has a public key, mk_public_…: any other key would be readable from the app's binary"
            }
        }
    }

    /// An event that an app may log or react to. Its description contains no token, secret or user.
    public enum Event: Hashable, Sendable, CustomStringConvertible {
        /// The event that the provider has confirmed a token, together with all values that the app has set.
        case registered(kind: TokenKind)
        /// The event that the provider has removed the installation.
        case removed
        /// The event that the provider refuses a member of the registration, or the whole request if `member` is `nil`.
        /// A refused value is not sent again until it changes or the refresh interval has passed.
        case refused(member: String?, code: String, message: String)
        /// The event that the user is not attached to the installation. Request a user proof for this installation from
        /// the app's back end, and call ``Martlet/attach(userProof:)`` with it.
        case userProofNeeded(installation: UUID, reason: String)
        /// The event that a request has failed for `reason`, and will be sent again after the delay `after`.
        case retry(Waiting, after: Duration, reason: String)
        case receiptsSent(count: Int)
        case receiptsDropped(count: Int, reason: String)
        /// The event that encrypted content cannot be decrypted, so that its placeholder is shown.
        case contentNotOpened(reason: String)
        /// The event that the storage fails, for example before a device's first unlock. Changes are kept in memory.
        case storageFailed(reason: String)

        public var description: String {
            switch self {
            case .registered(let kind): "the provider has the \(kind.rawValue) token"
            case .removed: "the provider has removed the installation"
            case .refused(let member, let code, let message):
                "the provider refuses \(member ?? "the request"): \(message) (\(code))"
            case .userProofNeeded(_, let reason): "a new user proof is needed: \(reason)"
            case .retry(let waiting, let after, let reason): "\(waiting.rawValue): tried again in \(after): \(reason)"
            case .receiptsSent(let count): "\(count) receipts sent"
            case .receiptsDropped(let count, let reason): "\(count) receipts dropped: \(reason)"
            case .contentNotOpened(let reason): "the placeholder is shown: \(reason)"
            case .storageFailed(let reason): "the storage failed: \(reason)"
            }
        }
    }

    /// The kind of request that failed and will be sent again.
    public enum Waiting: String, Hashable, Sendable {
        /// A request that registers or removes the installation.
        case registration
        /// A request that sends receipts.
        case receipts
    }

    /// An error in the app's code: an invalid argument or a call that is not allowed.
    public enum UsageError: Error, Hashable, Sendable, CustomStringConvertible {
        /// The error for an argument, `name`, that exceeds a limit or is invalid. The call has changed nothing.
        case invalidArgument(name: String, reason: String)
        /// The error for a call in a service extension, which may only create and send receipts.
        case serviceExtension

        public var description: String {
            switch self {
            case .invalidArgument(let name, let reason): "\(name): \(reason)"
            case .serviceExtension: "a service extension changes nothing: have the app do it"
            }
        }
    }

    /// The state of an installation.
    public struct Status: Hashable, Sendable {
        /// The id of the installation, to which the app's back end can limit a user proof.
        public let installation: UUID
        /// A Boolean value that indicates whether nothing remains to be sent: the provider has confirmed or refused
        /// everything.
        public let isConfirmed: Bool
        public let preferences: NotificationPreferences
        public let receiptPrivacy: ReceiptPrivacy
        /// The number of receipts that are not sent yet.
        public let waitingReceipts: Int
    }
}

/// The clock, the timer and the random numbers that ``Martlet`` uses. Tests replace them.
struct Dependencies: Sendable {
    var now: @Sendable () -> Date = { Date() }
    var sleep: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    /// A closure that waits for a duration, which is the time limit of a call of ``Martlet/synchronize(within:)``.
    var wait: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    /// A closure that returns a random number from 0 to 1, for back-offs.
    var random: @Sendable () -> Double = { Double.random(in: 0...1) }
    var uuid: @Sendable () -> UUID = { UUID() }
}
