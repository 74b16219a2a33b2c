public import Foundation

extension Martlet {
    /// Makes an address at which others reach this installation by Web Push.
    ///
    /// Give ``PushResource/endpoint`` to the sender, with the public half of a `SubscriptionKeys`. An installation has 50 at
    /// most. One ends with the installation: at a launch, compare ``pushResources()`` with what senders have.
    /// - Parameters:
    ///   - name: The app's own name, which each message carries; 64 bytes at most. `nil` for none.
    ///   - sender: The public key of the only sender that it accepts (VAPID, 65 bytes); `nil` for any sender.
    /// - Throws: ``PushResourceError``
    public func makePushResource(name: String? = nil, sender: Data? = nil) async throws(PushResourceError)
        -> PushResource
    {
        var body: [String: JSONValue] = [:]
        body["name"] = name.map { .string($0) }
        body["vapidKey"] = sender.map { .string(Base64URL.encode($0)) }
        let members = try await self.pushResources("POST", body: body)
        guard let resource = PushResource(members), resource.endpoint != nil else {
            throw .unavailable(reason: "the response has no address", retryAfter: nil)
        }
        return resource
    }

    /// Returns the push resources of this installation, without their addresses.
    /// - Throws: ``PushResourceError``
    public func pushResources() async throws(PushResourceError) -> [PushResource] {
        let members = try await self.pushResources("GET")
        return (members["pushResources"]?.array ?? []).compactMap { $0.object.flatMap { PushResource($0) } }
    }

    /// Removes a push resource: its sender is told with the next message. Removing one that is gone has no effect.
    /// - Throws: ``PushResourceError``
    public func removePushResource(_ id: UUID) async throws(PushResourceError) {
        do {
            _ = try await self.pushResources("DELETE", path: "/\(id.uuidString)")
        } catch {
            guard case .refused(code: "no_such_push_resource", _) = error else { throw error }
        }
    }

    /// Returns the message of a notification that came to a push resource; `nil` for any other notification.
    ///
    /// A message that did not fit is loaded from the provider. Call it in the notification service extension, whose
    /// notification shows a text without content until then.
    /// - Throws: ``PushResourceError``
    public func message(of notification: ReceivedNotification) async throws(PushResourceError) -> PushedMessage? {
        guard let reference = PushedMessage.reference(in: notification) else {
            return PushedMessage(in: notification)
        }
        let url = self.configuration.provider.appending(path: "push/messages/\(reference.id.uuidString.lowercased())")
        var request = TransportRequest(method: "GET", url: url, maximumResponse: PushedMessage.maximumBody)
        request.headers = ["authorization": "Bearer \(reference.token)", "accept": "application/octet-stream"]
        let response = try await self.response(to: request)
        guard response.status == 200 else {
            throw PushResourceError(ProviderResponse(.success(response))) ?? Self.unreadable
        }
        return PushedMessage(notification.data, body: response.body)
    }

    private static var unreadable: PushResourceError {
        .unavailable(reason: "the response cannot be read", retryAfter: nil)
    }

    /// Makes a request about the push resources of this installation, and returns the members of its response.
    private func pushResources(
        _ method: String,
        path: String = "",
        body: [String: JSONValue]? = nil
    ) async throws(PushResourceError) -> [String: JSONValue] {
        guard let state = self.state()?.state, let secret = state.secret, !state.isLeaving else {
            throw .notRegistered
        }
        let request = self.configuration.request(
            method,
            "push-resources\(path)",
            installation: state.installation,
            secret: secret,
            body: body
        )
        let response = ProviderResponse(.success(try await self.response(to: request)))
        guard case .done(let members) = response else { throw PushResourceError(response) ?? Self.unreadable }
        return members
    }

    private func response(to request: TransportRequest) async throws(PushResourceError) -> TransportResponse {
        var request = request
        // The user waits for what the extension returns.
        if self.configuration.role == .serviceExtension { request.deadline = .seconds(5) }
        do {
            return try await self.transport.send(request)
        } catch {
            throw .unavailable(reason: ProviderResponse.text(of: error), retryAfter: nil)
        }
    }
}

extension PushResourceError {
    /// The error of a response; `nil` for one that is none.
    init?(_ response: ProviderResponse) {
        switch response {
        case .done: return nil
        case .later(let delay, let reason): self = .unavailable(reason: reason, retryAfter: delay)
        case .refused(let refusal): self = .refused(code: refusal.code, message: refusal.message)
        }
    }
}
