import Foundation
package import PushStore
import PushSupport
package import PushTypes

/// The result of a test post to a webhook.
package struct WebhookTestResult: Hashable, Sendable {
    /// The id of the post and of its only event.
    package var id: String
    /// The HTTP status of the receiver; `nil` without a response.
    package var status: Int?
    /// The failure, as ``WebhookRecord/lastError`` would show it; `nil` if the receiver accepted the post.
    package var error: String?
    /// The time from the resolution of the name to the response.
    package var duration: Duration
}

extension WebhookDelivery {
    /// Posts one event of type `test` to a webhook at once, signed and checked like any other, also to one that is disabled.
    /// Its cursor and its failures stay as they are.
    package func test(_ webhook: WebhookRecord, app: Topic) async -> WebhookTestResult {
        let start = ContinuousClock.now
        let id = "test.\(UUID().uuidString.lowercased())"
        var result = WebhookTestResult(id: id, duration: .zero)
        do throws(WebhookFailure) {
            result.status = try await self.post(Self.testBody(id, app: app, at: self.time.now), to: webhook)
        } catch {
            if case .status(let status, _) = error { result.status = status }
            result.error = error.description
        }
        result.duration = ContinuousClock.now - start
        return result
    }

    /// Posts a body over a connection of its own.
    private func post(_ body: Data, to webhook: WebhookRecord) async throws(WebhookFailure) -> Int {
        let deadline = self.limits.deadline
        let receiver = try await WebhookReceiver(webhook, self.addresses, self.resolver, deadline: deadline)
        let result: Result<Int, WebhookFailure>
        do throws(WebhookFailure) {
            result = .success(try await receiver.post(body, secret: webhook.secret, now: self.time.now))
        } catch {
            result = .failure(error)
        }
        await receiver.close()
        return try result.get()
    }

    private static func testBody(_ id: String, app: Topic, at now: Timestamp) -> Data {
        var json = JSONWriter(capacity: 512)
        json.raw(#"{"id":"#)
        json.string(id)
        json.raw(#","app":"#)
        json.string(app.name)
        json.raw(#","events":[{"id":"#)
        json.string(id)
        json.raw(#","type":"test","at":"#)
        json.integer(now.milliseconds)
        json.raw("}]}")
        return Data(json.bytes)
    }
}
