import Foundation

extension RegistrationStateMachine.Request {
    /// The body of a registration.
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
    /// The URL of an installation.
    private func url(of installation: UUID) -> URL {
        self.provider.appending(path: "v1/apps/\(self.app)/installations/\(installation.uuidString)")
    }

    private var headers: [String: String] {
        ["authorization": "Bearer \(self.key)", "content-type": "application/json", "accept": "application/json"]
    }

    /// Returns the request for what the machine has decided.
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

    /// Returns a request about something of an installation.
    /// - Parameter path: The path below the installation.
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

    /// Returns the request that sends a batch of receipts.
    func request(_ batch: ReceiptOutbox.Batch, installation: UUID, secret: String) -> TransportRequest {
        self.request("POST", "receipts", installation: installation, secret: secret, body: batch.json)
    }
}
