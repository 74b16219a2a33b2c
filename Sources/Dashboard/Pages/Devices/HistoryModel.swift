import Foundation
import ProviderAPI
import ProviderModel
import PushTypes
import WebPages

/// Creates the variables of the template `history`, for the deliveries and the token events of a device or a user.
enum HistoryModel {
    /// Returns the variables for a page of the history.
    /// - Parameter path: The path of the page that shows the history.
    static func model(_ history: HistoryResponse, _ request: PageRequest, path: String) async throws -> PageModel {
        let deliveries = history.deliveries
        let names = try await self.names(of: deliveries, request)
        var model: PageModel = [
            "deliveries": deliveries.map { self.delivery($0, names, request) },
            "tokenEvents": history.events.map { self.event($0, request) },
        ]
        model["pager"] = request.pager(history.next, path: path)
        return model
    }

    /// Returns the template variables for a delivery in a list: the state, an explanation of the reason, and the link
    /// to the timeline.
    private static func delivery(_ response: DeliveryResponse, _ names: [UUID: String], _ request: PageRequest)
        -> PageModel
    {
        let delivery = response.delivery
        var model = PageValue.members(response)
        model["path"] = "\(Dashboard.root)\(request.appPath)/deliveries/\(response.apnsID)"
        model["name"] = names[delivery.notification] ?? "\(delivery.notification.uuidString.prefix(8))…"
        model["stateLabel"] = StateLabel.model(delivery.state.word, request.texts)
        let reason = delivery.reason ?? ""
        model["reason"] = reason.isEmpty ? false : reason
        model["explanation"] = DeliveryReasonText.explanation(reason, request.texts) ?? false
        model["environment"] = delivery.environment?.rawValue ?? ""
        model["token"] = delivery.token?.description ?? ""
        return model
    }

    static func event(_ response: TokenEventResponse, _ request: PageRequest) -> PageModel {
        let event = response.event
        var model = PageValue.members(response)
        let token = event.token.hex
        model["stateLabel"] = StateLabel.model(event.action.rawValue, request.texts)
        model["path"] = "\(Dashboard.root)\(request.appPath)/devices/\(token)"
        model["shortToken"] = DeviceModel.short(token)
        let reason = event.reason ?? ""
        model["reason"] = reason.isEmpty ? false : reason
        model["explanation"] = DeliveryReasonText.explanation(reason, request.texts) ?? false
        model["notificationPath"] =
            event.notification.map { "\(Dashboard.root)\(request.appPath)/notifications/\($0)" } ?? false
        return model
    }

    /// Returns the names of the deliveries' notifications, by notification id. Unreadable notifications are omitted.
    private static func names(
        of deliveries: [DeliveryResponse],
        _ request: PageRequest
    ) async throws -> [UUID: String] {
        var names: [UUID: String] = [:]
        for id in Set(deliveries.map(\.delivery.notification)) {
            let call = LocalAPIRequest.get("/v1/notifications/\(id)")
            guard let notification = try? await request.call(call, as: NotificationResponse.self, isNoted: false)
            else { continue }
            names[id] = NotificationName.of(notification)
        }
        return names
    }
}

/// The name by which pages refer to a notification.
enum NotificationName {
    /// Returns the name of a notification, or its push type and a prefix of its id if it has no name.
    static func of(_ response: NotificationResponse) -> String {
        let notification = response.notification
        if let name = notification.name, !name.isEmpty { return String(name.prefix(80)) }
        return "\(notification.content.pushType.rawValue) \(notification.id.uuidString.prefix(8))…"
    }
}
