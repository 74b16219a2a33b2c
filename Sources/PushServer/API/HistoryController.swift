import Foundation
import HTTPTypes
import Hummingbird
import PushHTTP
import PushProtocol
import PushProvider
import PushStore

/// Everything that happened to a token, a user or an apns-id, and badge counts.
struct HistoryController: Controller {
    /// Devices of one user whose history is put together.
    private static let maximumDevices = 50

    let store: any PushStore

    private static let badge = Schema.object(required: ["count": .integer(0...Int64(BadgeChange.maximumCount))])
        .named("Badge")

    var operations: [Operation] {
        [
            Operation(
                method: .get,
                path: "/v1/apps/{app}/devices/{token}/history",
                id: "deviceHistory",
                summary: "Deliveries to a token, registered or not, and what was done to it; newest first.",
                tag: .devices,
                scope: .read,
                parameters: [.limit()],
                answers: [.ok(HistoryAnswer.schema)],
                handler: self.ofToken
            ),
            Operation(
                method: .get,
                path: "/v1/apps/{app}/users/{user}/history",
                id: "userHistory",
                summary: "The same for all devices of a user.",
                tag: .devices,
                scope: .read,
                parameters: [.limit()],
                answers: [.ok(HistoryAnswer.schema)],
                handler: self.ofUser
            ),
            Operation(
                method: .get,
                path: "/v1/apps/{app}/users/{user}/badge",
                id: "showBadge",
                summary: "The user's badge count.",
                tag: .devices,
                scope: .read,
                answers: [.ok(Self.badge)],
                handler: self.showBadge
            ),
            Operation(
                method: .put,
                path: "/v1/apps/{app}/users/{user}/badge",
                id: "setBadge",
                summary: "Sets the user's badge count; the next push that counts goes on from there.",
                tag: .devices,
                scope: .send,
                body: RequestBody(schema: Self.badge, maximum: 4096),
                answers: [.ok(Self.badge)],
                handler: self.setBadge
            ),
            Operation(
                method: .get,
                path: "/v1/deliveries/{apnsId}",
                id: "showDelivery",
                summary: "The delivery that went out under this apns-id.",
                tag: .notifications,
                scope: .read,
                answers: [.ok(DeliveryAnswer.schema)],
                handler: self.delivery
            ),
        ]
    }

    private func ofToken(_ call: Call) async throws -> Response {
        let app = try await call.app(self.store)
        let (token, limit) = (try call.pathToken(), try call.limit())
        let devices = try await self.store.devices(app: app.id, token: token)
        return try await self.answer(app: app.id, devices, tokens: [token], limit: limit)
    }

    private func ofUser(_ call: Call) async throws -> Response {
        let app = try await call.app(self.store)
        let (user, limit) = (try call.user(), try call.limit())
        let devices = try await self.store.devices(
            app: app.id,
            audience: .user(user),
            after: 0,
            limit: Self.maximumDevices
        )
        let tokens = Set(devices.map(\.token))
        return try await self.answer(app: app.id, devices, tokens: tokens, limit: limit)
    }

    private func answer(
        app: Int64,
        _ devices: [DeviceRecord],
        tokens: Set<DeviceToken>,
        limit: Int
    ) async throws -> Response {
        var deliveries: [DeliveryRecord] = []
        for device in devices {
            deliveries += try await self.store.deliveries(app: app, device: device.id, limit: limit)
        }
        var events: [TokenEventRecord] = []
        for token in tokens {
            // A campaign to tokens does not know whose they are.
            deliveries += try await self.store.deliveries(app: app, unregistered: token, limit: limit)
            events += try await self.store.tokenEvents(app: app, token: token, action: nil, before: nil, limit: limit)
        }
        var seen: Set<String> = []
        let answers = deliveries.sorted { $0.at > $1.at }.map(DeliveryAnswer.init)
            .filter { seen.insert($0.apnsId).inserted }
        return try JSONAnswer.make(
            .ok,
            HistoryAnswer(
                devices: devices.map(DeviceAnswer.init),
                deliveries: Array(answers.prefix(limit)),
                tokenEvents: events.sorted { $0.id > $1.id }.prefix(limit).map(TokenEventAnswer.init)
            )
        )
    }

    private func showBadge(_ call: Call) async throws -> Response {
        let app = try await call.app(self.store)
        let count = try await self.store.badge(app: app.id, holder: BadgeHolder.of(user: try call.user()))
        return try JSONAnswer.make(.ok, ["count": count])
    }

    private func setBadge(_ call: Call) async throws -> Response {
        let app = try await call.app(self.store)
        let user = try call.user()
        let fields = try await call.fields(["count"])
        guard let count = try fields.integer("count", in: 0...Int64(BadgeChange.maximumCount)) else {
            throw fields.refusal("count", "missing_field", "this member is required")
        }
        try await self.store.setBadge(Int(count), app: app.id, holder: BadgeHolder.of(user: user))
        return try JSONAnswer.make(.ok, ["count": count])
    }

    private func delivery(_ call: Call) async throws -> Response {
        guard let id = DeliveryID.parse(call.path("apnsId")),
            let delivery = try await self.store.delivery(of: id.notification, recipient: id.recipient)
        else { throw APIRefusal.noSuch("delivery", "apnsId", "apns-id") }
        return try JSONAnswer.make(.ok, DeliveryAnswer(delivery))
    }
}
