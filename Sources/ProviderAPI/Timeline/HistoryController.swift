import Hummingbird
import ProviderModel
import PushHTTP
import PushProvider
import PushStore
import PushSupport
import PushTypes

/// The operations for the history of a token or a user, for finding a delivery by its `apns-id`, and for badge counts.
struct HistoryController: Controller {
    /// The maximum number of devices of a user whose histories are merged. Histories of further devices are omitted.
    private static let maximumDevices = 50
    /// The maximum number of times that a response looks up a device in a campaign (a bulk notification). It limits how
    /// far back a response reaches, and the next page continues there.
    private static let maximumLookups = 5000

    typealias Store = AppStore & DeviceStore & TimelineStore & TokenStateStore & UserStore

    let store: any Store

    var operations: [ProviderOperation] {
        let badge = "/v1/apps/{app}/users/{user}/badge"
        return [
            self.history("/v1/apps/{app}/devices/{token}/history", id: "deviceHistory", self.ofToken)
                .summary("Deliveries to a token, registered or not, and the events of the token; newest first."),
            self.history("/v1/apps/{app}/users/{user}/history", id: "userHistory", self.ofUser)
                .summary("The same for all devices of a user."),
            .init(.get, badge, id: "showBadge", "The user's badge count.", self.showBadge)
                .tag(.devices).scope(.read).responses(.ok(BadgeRequest.object.schema)),
            .init(.put, badge, .unaudited, id: "setBadge", self.setBadge)
                .summary("Sets the user's badge count, from which the next push continues.")
                .tag(.devices).scope(.send).body(BadgeRequest.object.schema, maximum: 4096)
                .responses(.ok(BadgeRequest.object.schema)),
            .init(.get, "/v1/deliveries/{apnsId}", id: "showDelivery", "The delivery with this apns-id.", self.delivery)
                .tag(.notifications).scope(.read).responses(.ok(DeliveryResponse.schema)),
        ]
    }

    private func history(_ path: String, id: String, _ handler: @escaping ProviderOperation.Handler)
        -> ProviderOperation
    {
        .init(.get, path, id: id, handler)
            .tag(.devices).scope(.read).cost(.query).parameters(.limit(), .cursor)
            .responses(.ok(HistoryResponse.schema)).reservingPage(ofEntries: 640)
    }

    /// Responds with the history of a token, which need not be registered, because there are deliveries to tokens
    /// without a device.
    private func ofToken(_ request: OperationRequest) async throws -> Response {
        let app = try await request.app(self.store)
        let token = try request.pathToken()
        let devices = try await self.store.devices(app: app.id, token: token)
        let periods = devices.map { UserPeriod(device: $0.id) }
        return try await self.response(request, app: app.id, devices, periods, tokens: [token: nil])
    }

    /// Merges the histories of the user's devices. The history of each device includes only the time during which the
    /// device belonged to the user.
    private func ofUser(_ request: OperationRequest) async throws -> Response {
        let app = try await request.app(self.store)
        let (user, limit) = (try request.user(), Self.maximumDevices)
        let devices = try await self.store.devices(app: app.id, audience: .user(user), after: 0, limit: limit)
        let periods = try await self.store.periods(app: app.id, user: user, limit: limit)
        let tokens = UserPeriod.tokens(of: devices, periods)
        return try await self.response(request, app: app.id, devices, periods, tokens: tokens)
    }

    /// Returns a page of the merged histories of devices and tokens.
    ///
    /// Every list is read from the end of the previous page back to the horizon: the oldest campaign (bulk
    /// notification) that is searched for this response. The horizon bounds the number of lookups.
    /// - Parameters:
    ///   - devices: The devices that the response describes.
    ///   - periods: The devices with the times during which their deliveries are included.
    ///   - tokens: The tokens, each with the time after which its deliveries are included, or `nil` to include all.
    private func response(
        _ request: OperationRequest,
        app: Int64,
        _ devices: [DeviceRecord],
        _ periods: [UserPeriod],
        tokens: [DeviceToken: Timestamp?]
    ) async throws -> Response {
        let (cursor, limit) = (try request.cursor(.history), try request.limit())
        let horizon = try await self.store.horizon(
            app: app,
            before: cursor.map { NotificationCursor(number: $0.position) },
            campaigns: Self.maximumLookups / max(1, periods.count)
        )
        var page = HistoryPage(after: cursor, limit: limit, horizon: horizon)
        let (store, end) = (self.store, page.deliveriesBefore)
        for period in periods {
            page.add(try await store.deliveries(app: app, period: period, before: end, horizon: horizon, limit: limit))
        }
        for (token, since) in tokens {
            // A campaign to tokens does not refer to their devices.
            page.add(
                try await store.deliveries(
                    app: app,
                    unregistered: token,
                    since: since,
                    before: end,
                    horizon: horizon,
                    limit: limit
                )
            )
            let end = page.eventsBefore
            let events = try await store.tokenEvents(app: app, token: token, action: nil, before: end, limit: limit)
            // Events before that time belong to the device's previous user.
            page.add(events.filter { event in since.map { event.at > $0 } ?? true })
        }
        return try .json(HistoryResponse(devices: devices.map(DeviceResponse.init), page: page))
    }

    /// Responds with the badge count of a user, which is 0 if none is stored.
    private func showBadge(_ request: OperationRequest) async throws -> Response {
        let app = try await request.app(self.store)
        let count = try await self.store.badge(app: app.id, holder: BadgeHolder.user(try request.user()))
        return try .json(["count": count])
    }

    private func setBadge(_ request: OperationRequest) async throws -> Response {
        let app = try await request.app(self.store)
        let user = try request.user()
        let count = try await request.fields(BadgeRequest.object).required(BadgeRequest.count)
        guard try await self.store.setBadge(Int(count), app: app.id, holder: BadgeHolder.user(user)) else {
            throw RequestError.noSuch("app", by: "bundle id")
        }
        return try .json(["count": count])
    }

    /// Looks a delivery up by the `apns-id` of its push, which identifies the notification and the recipient.
    private func delivery(_ request: OperationRequest) async throws -> Response {
        guard let id = DeliveryID.parse(request.path("apnsId")),
            let delivery = try await self.store.delivery(of: id.notification, recipient: id.recipient)
        else { throw RequestError.noSuch("delivery", by: "apns-id", at: "apnsId") }
        return try .json(DeliveryResponse(delivery: delivery))
    }
}
