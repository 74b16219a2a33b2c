public import Foundation

extension Martlet {
    /// Makes an address at which others reach this installation by Web Push.
    ///
    /// Give ``PushResource/endpoint`` to the sender, with the public half of a `SubscriptionKeys`. An installation has 50 at
    /// most. One ends with the installation: at a launch, compare ``pushResources()`` with what senders have.
    /// - Parameters:
    ///   - name: The app's own name, which each message carries; 64 bytes at most. `nil` for none.
    ///   - sender: The public key of the only sender that it accepts (VAPID, 65 bytes); `nil` for any sender.
    /// - Throws: ``InstallationError``
    public func makePushResource(name: String? = nil, sender: Data? = nil) async throws(InstallationError)
        -> PushResource
    {
        var body: [String: JSONValue] = [:]
        body["name"] = name.map { .string($0) }
        body["vapidKey"] = sender.map { .string(URLSafeBase64.encode($0)) }
        let members = try await self.members("POST", "push-resources", body: body)
        guard let resource = PushResource(members), resource.endpoint != nil else {
            throw .unavailable(reason: "the response has no address", retryAfter: nil)
        }
        return resource
    }

    /// Returns the push resources of this installation, without their addresses.
    /// - Throws: ``InstallationError``
    public func pushResources() async throws(InstallationError) -> [PushResource] {
        let members = try await self.members("GET", "push-resources")
        return (members["pushResources"]?.array ?? []).compactMap { $0.object.flatMap { PushResource($0) } }
    }

    /// Removes a push resource: its sender is told with the next message. Removing one that is gone has no effect.
    /// - Throws: ``InstallationError``
    public func removePushResource(_ id: UUID) async throws(InstallationError) {
        do {
            _ = try await self.members("DELETE", "push-resources/\(id.uuidString)")
        } catch {
            guard case .refused(code: "no_such_push_resource", _) = error else { throw error }
        }
    }

    /// Returns the message of a notification that came to a push resource; `nil` for any other notification.
    ///
    /// A message that did not fit is loaded from the provider. Call it in the notification service extension, whose
    /// notification shows a text without content until then.
    /// - Throws: ``InstallationError``
    public func message(of notification: ReceivedNotification) async throws(InstallationError) -> PushedMessage? {
        guard let reference = PushedMessage.reference(in: notification) else {
            return PushedMessage(in: notification)
        }
        let url = self.configuration.provider.appending(path: "push/messages/\(reference.id.uuidString.lowercased())")
        var request = TransportRequest(method: "GET", url: url, maximumResponse: PushedMessage.maximumBody)
        request.headers = ["authorization": "Bearer \(reference.token)", "accept": "application/octet-stream"]
        let result = await self.send(request)
        guard case .success(let response) = result, response.status == 200 else {
            _ = try ProviderResult(result).members()
            throw .unavailable(reason: "the response cannot be read", retryAfter: nil)
        }
        return PushedMessage(notification.data, body: response.body)
    }
}
