import Crypto
import Foundation
import HTTPTypes
import Hummingbird
import PushHTTP
import PushProtocol
import PushProvider
import PushStore

/// `/v1/apps/{app}/notifications` and `/v1/notifications`: sending, progress, what became of each device.
struct NotificationsController: Sendable {
    private static let longestIdempotencyKey = 200

    let store: any PushStore
    let intake: NotificationIntake
    let time: any TimeSource

    func addRoutes(to group: RouterGroup<APIContext>) {
        group.post("apps/:app/notifications", use: self.send)
        group.get("notifications/:id", use: self.show)
        group.get("notifications/:id/deliveries", use: self.deliveries)
    }

    @Sendable private func send(_ request: Request, _ context: APIContext) async throws -> Response {
        try context.require(.send)
        let app = try await context.app(self.store)
        let body = try await context.body(of: request)
        let wanted = try NotificationRequest(parsing: body, bundleID: app.bundleID, now: self.time.now)
        try await self.checkCredentials(app, wanted)
        let idempotency = try Self.idempotency(request, body: body)
        let (notification, acceptance) = try await self.intake.accept(wanted, app: app.id, idempotency: idempotency)
        switch acceptance {
        case .accepted:
            return try Self.accepted(notification, isRepeated: false)
        case .repeated(let earlier):
            return try Self.accepted(earlier, isRepeated: true)
        case .conflict:
            throw APIRefusal(
                status: 409,
                code: "idempotency_conflict",
                message: "this key was used for another request: choose a new one",
                field: "idempotency-key"
            )
        }
    }

    @Sendable private func show(_ request: Request, _ context: APIContext) async throws -> Response {
        try context.require(.read)
        return try JSONAnswer.make(.ok, NotificationAnswer(try await self.notification(context)))
    }

    @Sendable private func deliveries(_ request: Request, _ context: APIContext) async throws -> Response {
        try context.require(.read)
        let notification = try await self.notification(context)
        let limit = Int(try request.number("limit", in: 1...1000, default: 100))
        let after = try request.number("after", in: Int64.min...Int64.max, default: .min)
        let deliveries = try await self.store.deliveries(of: notification.id, state: nil, after: after, limit: limit)
        let next = deliveries.count == limit ? deliveries.last?.recipient : nil
        return try JSONAnswer.make(.ok, DeliveriesAnswer(deliveries: deliveries.map(DeliveryAnswer.init), next: next))
    }

    private func notification(_ context: APIContext) async throws -> NotificationRecord {
        guard let id = context.parameters.get("id").flatMap(UUID.init(uuidString:)),
            let notification = try await self.store.notification(id)
        else {
            throw APIRefusal(
                status: 404,
                code: "no_such_notification",
                message: "there is no notification with this id",
                field: "id"
            )
        }
        return notification
    }

    /// Without a credential nothing could ever be sent: better said now.
    private func checkCredentials(_ app: AppRecord, _ wanted: NotificationRequest) async throws {
        let there = try await self.store.environments(app: app.id)
        let needed: PushEnvironment?
        switch (wanted.environment, wanted.audience) {
        case (let environment?, _): needed = environment
        case (nil, .tokens): needed = .production
        case (nil, _): needed = nil
        }
        guard needed.map(there.contains) ?? !there.isEmpty else {
            let environment = needed?.rawValue ?? "any environment"
            throw APIRefusal(
                status: 409,
                code: "missing_credential",
                message:
                    "the app has no credential for \(environment): PUT /v1/apps/\(app.bundleID)/credentials/… first",
                field: "environment"
            )
        }
    }

    private static func idempotency(_ request: Request, body: Data) throws -> Idempotency? {
        guard let name = HTTPField.Name("idempotency-key"), let key = request.headers[name] else { return nil }
        guard !key.isEmpty, key.utf8.count <= Self.longestIdempotencyKey else {
            throw APIRefusal(
                status: 400,
                code: "invalid_idempotency_key",
                message: "an idempotency key has 1 to \(Self.longestIdempotencyKey) bytes",
                field: "idempotency-key"
            )
        }
        // Over the canonical text: the same request may have its members in another order.
        return Idempotency(key: key, fingerprint: Array(SHA256.hash(data: try JSONValue(parsing: body).text)))
    }

    private static func accepted(_ notification: NotificationRecord, isRepeated: Bool) throws -> Response {
        var headers: HTTPFields = [.location: "/v1/notifications/\(notification.id.uuidString)"]
        if isRepeated, let name = HTTPField.Name("idempotency-replayed") { headers[name] = "true" }
        return try JSONAnswer.make(.accepted, NotificationAnswer(notification), headers: headers)
    }
}
