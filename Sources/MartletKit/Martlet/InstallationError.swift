/// An error of a call about something of this installation: its push resources, their messages, or an ``XMPPPushAddress``.
public enum InstallationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The provider has not confirmed the installation yet: try again after ``Martlet/Event/registered(kind:)``.
    case notRegistered
    /// The network or the provider was in the way: it may work later, not before the time that the provider names.
    case unavailable(reason: String, retryAfter: Duration?)
    /// The provider refuses it, with a stable code such as `too_many_push_resources` or `no_component`.
    case refused(code: String, message: String)

    public var description: String {
        switch self {
        case .notRegistered: "the provider has not confirmed the installation yet"
        case .unavailable(let reason, _): reason
        case .refused(let code, let message): message.isEmpty ? code : "\(message) (\(code))"
        }
    }
}

extension ProviderResult {
    /// Returns the members of a response to a request that was carried out.
    func members() throws(InstallationError) -> [String: JSONValue] {
        switch self {
        case .done(let members): return members
        case .later(let delay, let reason): throw .unavailable(reason: reason, retryAfter: delay)
        case .refused(let refusal): throw .refused(code: refusal.code, message: refusal.message)
        }
    }
}

extension Martlet {
    /// Makes a request about something of this installation, and returns the members of its response.
    /// - Parameter path: The path below the installation.
    func members(
        _ method: String,
        _ path: String,
        body: [String: JSONValue]? = nil
    ) async throws(InstallationError) -> [String: JSONValue] {
        guard let state = self.state()?.state, let secret = state.secret, !state.isLeaving else { throw .notRegistered }
        let request = self.configuration.request(
            method,
            path,
            installation: state.installation,
            secret: secret,
            body: body.map { .object($0) }
        )
        return try await self.exchange(request).members()
    }
}
