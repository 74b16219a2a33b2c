import Foundation
import HTTPTypes
import Hummingbird
import PushHTTP
import PushProvider
import PushStore
import PushSupport
import PushTypes

/// Everything that happened to a token, a user or an apns-id, and badge counts.
struct HistoryController: Controller {
    /// Devices of one user whose history is put together.
    private static let maximumDevices = 50
    /// Look-ups of a device in a campaign for one answer: it reaches back as far as these go.
    private static let maximumLookups = 5000

    let store: any ProviderStore

    private static let badge = Schema.object(required: ["count": .integer(0...Int64(BadgeChange.maximumCount))])
        .named("Badge")

    var operations: [APIOperation] {
        [
            APIOperation(
                method: .get,
                path: "/v1/apps/{app}/devices/{token}/history",
                id: "deviceHistory",
                summary: "Deliveries to a token, registered or not, and what was done to it; newest first.",
                tag: .devices,
                scope: .read,
                parameters: [.limit(), .cursor],
                answers: [.ok(HistoryResponse.schema)],
                cost: .question,
                handler: self.ofToken
            ),
            APIOperation(
                method: .get,
                path: "/v1/apps/{app}/users/{user}/history",
                id: "userHistory",
                summary: "The same for all devices of a user.",
                tag: .devices,
                scope: .read,
                parameters: [.limit(), .cursor],
                answers: [.ok(HistoryResponse.schema)],
                cost: .question,
                handler: self.ofUser
            ),
            APIOperation(
                method: .get,
                path: "/v1/apps/{app}/users/{user}/badge",
                id: "showBadge",
                summary: "The user's badge count.",
                tag: .devices,
                scope: .read,
                answers: [.ok(Self.badge)],
                handler: self.showBadge
            ),
            APIOperation(
                method: .put,
                path: "/v1/apps/{app}/users/{user}/badge",
                id: "setBadge",
                summary: "Sets the user's badge count; the next push that counts goes on from there.",
                tag: .devices,
                scope: .send,
                body: BodyDescription(schema: Self.badge, maximum: 4096),
                answers: [.ok(Self.badge)],
                handler: self.setBadge
            ),
            APIOperation(
                method: .get,
                path: "/v1/deliveries/{apnsId}",
                id: "showDelivery",
                summary: "The delivery that went out under this apns-id.",
                tag: .notifications,
                scope: .read,
                answers: [.ok(DeliveryResponse.schema)],
                handler: self.delivery
            ),
        ]
    }

    private func ofToken(_ call: OperationRequest) async throws -> Response {
        let app = try await call.app(self.store)
        let token = try call.pathToken()
        let devices = try await self.store.devices(app: app.id, token: token)
        return try await self.answer(call, app: app.id, devices, tokens: [token])
    }

    private func ofUser(_ call: OperationRequest) async throws -> Response {
        let app = try await call.app(self.store)
        let devices = try await self.store.devices(
            app: app.id,
            audience: .user(try call.user()),
            after: 0,
            limit: Self.maximumDevices
        )
        return try await self.answer(call, app: app.id, devices, tokens: Set(devices.map(\.token)))
    }

    private func answer(
        _ call: OperationRequest,
        app: Int64,
        _ devices: [DeviceRecord],
        tokens: Set<DeviceToken>
    ) async throws -> Response {
        let (cursor, limit) = (try call.whole(.history), try call.limit())
        let horizon = try await self.store.horizon(
            app: app,
            before: cursor.map { NotificationCursor(number: $0.position) },
            campaigns: Self.maximumLookups / max(1, devices.count)
        )
        var page = HistoryPage(after: cursor, limit: limit, horizon: horizon)
        for device in devices {
            page.add(
                try await self.store.deliveries(
                    app: app,
                    device: device.id,
                    before: page.deliveriesBefore,
                    horizon: page.horizon,
                    limit: page.limit
                )
            )
        }
        for token in tokens {
            // A campaign to tokens does not know whose they are.
            page.add(
                try await self.store.deliveries(
                    app: app,
                    unregistered: token,
                    before: page.deliveriesBefore,
                    horizon: page.horizon,
                    limit: page.limit
                )
            )
            page.add(
                try await self.store.tokenEvents(
                    app: app,
                    token: token,
                    action: nil,
                    before: page.eventsBefore,
                    limit: page.limit
                )
            )
        }
        return try JSONResponse.make(.ok, HistoryResponse(devices: devices.map(DeviceResponse.init), page))
    }

    private func showBadge(_ call: OperationRequest) async throws -> Response {
        let app = try await call.app(self.store)
        let count = try await self.store.badge(app: app.id, holder: BadgeOwner.user(try call.user()))
        return try JSONResponse.make(.ok, ["count": count])
    }

    private func setBadge(_ call: OperationRequest) async throws -> Response {
        let app = try await call.app(self.store)
        let user = try call.user()
        let fields = try await call.fields(["count"])
        guard let count = try fields.integer("count", in: 0...Int64(BadgeChange.maximumCount)) else {
            throw fields.refusal("count", "missing_field", "this member is required")
        }
        try await self.store.setBadge(Int(count), app: app.id, holder: BadgeOwner.user(user))
        return try JSONResponse.make(.ok, ["count": count])
    }

    private func delivery(_ call: OperationRequest) async throws -> Response {
        guard let id = DeliveryID.parse(call.path("apnsId")),
            let delivery = try await self.store.delivery(of: id.notification, recipient: id.recipient)
        else { throw RequestError.noSuch("delivery", "apnsId", "apns-id") }
        return try JSONResponse.make(.ok, DeliveryResponse(delivery))
    }
}
