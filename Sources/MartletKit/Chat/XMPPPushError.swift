/// An error of a call about an ``XMPPPushAddress``.
public enum XMPPPushError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The provider does not know the installation yet: register a token, and wait for ``Martlet/synchronize(within:)``.
    case notRegistered
    /// The network or the provider was in the way: it may work later, not before the time that the provider names.
    case unavailable(reason: String, retryAfter: Duration?)
    /// The provider refuses it, with a stable code such as `no_component`.
    case refused(code: String, message: String)

    public var description: String {
        switch self {
        case .notRegistered: "the installation is not registered yet"
        case .unavailable(let reason, _): reason
        case .refused(let code, let message): message.isEmpty ? code : "\(message) (\(code))"
        }
    }
}
