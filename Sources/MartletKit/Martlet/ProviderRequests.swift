import Foundation

extension RegistrationStateMachine.Request {
    var body: JSONValue? {
        guard case .register(let registration) = self else { return nil }
        var members: [String: JSONValue] = [
            "token": .string(registration.token.text),
            "environment": .string(registration.token.environment.rawValue),
            "kind": .string(registration.token.kind),
        ]
        members["activity"] = registration.token.activity.map { .string($0) }
        members["secret"] = registration.secret.map { .string($0) }
        var attributes: [String: JSONValue] = [:]
        for (name, value) in registration.shared {
            if name.hasPrefix("attributes.") {
                attributes[String(name.dropFirst("attributes.".count))] = value
            } else {
                members[name] = value
            }
        }
        if !attributes.isEmpty { members["attributes"] = .object(attributes) }
        return .object(members)
    }
}

extension Martlet.Configuration {
    private func url(of installation: UUID) -> URL {
        self.provider.appending(path: "v1/apps/\(self.app)/installations/\(installation.uuidString)")
    }

    private var headers: [String: String] {
        ["authorization": "Bearer \(self.key)", "content-type": "application/json", "accept": "application/json"]
    }

    func request(_ request: RegistrationStateMachine.Request, installation: UUID) -> TransportRequest {
        let url = self.url(of: installation)
        switch request {
        case .register:
            return TransportRequest(method: "PUT", url: url, headers: self.headers, body: request.body?.json ?? Data())
        case .remove(let secret):
            var headers = self.headers
            headers["content-type"] = nil
            headers["installation-secret"] = secret
            return TransportRequest(method: "DELETE", url: url, headers: headers)
        }
    }

    /// Creates a request to an API resource of an installation.
    /// - Parameter path: The path relative to the installation, such as `receipts`.
    func request(
        _ method: String,
        _ path: String,
        installation: UUID,
        secret: String,
        body: JSONValue? = nil
    ) -> TransportRequest {
        var headers = self.headers
        if body == nil { headers["content-type"] = nil }
        headers["installation-secret"] = secret
        return TransportRequest(
            method: method,
            url: self.url(of: installation).appending(path: path),
            headers: headers,
            body: body?.json ?? Data()
        )
    }

    func request(_ batch: ReceiptOutbox.Batch, installation: UUID, secret: String) -> TransportRequest {
        self.request("POST", "receipts", installation: installation, secret: secret, body: batch.json)
    }
}

/// The error of a call about a push resource, its messages or an ``XMPPPushAddress`` of this installation.
public enum InstallationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The error before the installation is confirmed. Try again after ``Martlet/Event/registered(kind:)``.
    case notRegistered
    /// The error for a failure of the network or the provider. The call may succeed later. `retryAfter` is the delay
    /// that the provider requests before that, or `nil` if it requests none.
    case unavailable(reason: String, retryAfter: Duration?)
    /// The error for a call that the provider refuses, with a stable code such as `too_many_push_resources`.
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
    /// Returns the members of a successful response.
    /// - Throws: ``InstallationError`` if the request was not performed.
    func members() throws(InstallationError) -> [String: JSONValue] {
        switch self {
        case .done(let members): return members
        case .later(let delay, let reason): throw .unavailable(reason: reason, retryAfter: delay)
        case .refused(let refusal): throw .refused(code: refusal.code, message: refusal.message)
        }
    }
}

extension Martlet {
    /// Sends a request to an API resource of this installation, and returns the members of its response.
    /// - Parameter path: The path relative to the installation, such as `receipts`.
    /// - Throws: ``InstallationError`` if the request fails or the installation is not registered.
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
