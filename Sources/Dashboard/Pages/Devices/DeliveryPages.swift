import Hummingbird
import ProviderAPI
import PushHTTP
import PushProvider
import PushSupport
import PushTypes
import WebPages

/// The page of one delivery, with its state, the reason for the state, and the timeline.
struct DeliveryPages: PageArea {
    var routes: [PageRoute] {
        [
            .get("/apps/{app}/deliveries/{delivery}", self.show),
            .get("/apps/{app}/deliveries/{delivery}/live", self.live),
        ]
    }

    private func show(_ request: PageRequest) async throws -> Response {
        var model = try await Self.model(request)
        model["live"] = "\(request.http.uri.path)/live"
        return request.page("delivery", title: "delivery.title", model)
    }

    private func live(_ request: PageRequest) async throws -> Response {
        request.live { request in
            let model = try await Self.model(request)
            return .init(html: request.part("timeline", model), isFinal: model["isPending"] as? Bool != true)
        }
    }

    private static func model(_ request: PageRequest) async throws -> PageModel {
        let apnsID = URLText.encoded(request.parameter("delivery"))
        let found = try await request.list("/v1/timeline?apnsId=\(apnsID)", of: TimelineResponse.self)
        guard let response = found.entries.first else { throw RequestError.noSuch("delivery") }
        let (timeline, id) = (response.timeline, response.timeline.notification)
        let notification = try await request.get("/v1/notifications/\(id)", as: NotificationResponse.self)
        guard notification.app?.name == request.app else { throw RequestError.noSuch("delivery") }
        let (reason, state) = (timeline.reason ?? "", timeline.state)
        var model = PageValue.members(response)
        model["name"] = NotificationName.of(notification)
        model["notificationPath"] = "\(Dashboard.root)\(request.appPath)/notifications/\(id)"
        model["stateLabel"] = StateLabel.model(state, request.texts)
        model["reason"] = reason.isEmpty ? false : reason
        model["explanation"] =
            ReasonText.explanation(reason, request.texts) ?? request.texts.text("delivery.because.\(state)") ?? false
        model["isPending"] = state == "pending" || state == "sending"
        model["steps"] = response.steps.map { step -> PageModel in
            var model = PageValue.members(step)
            let source = step.step.source.rawValue
            model["sourceName"] = request.texts.text("delivery.sources.\(source)") ?? source
            model["sinceText"] = step.since.map(Self.length) ?? ""
            return model
        }
        return model
    }

    private static func length(_ milliseconds: Int64) -> String {
        if milliseconds < 1000 { return "+\(milliseconds) ms" }
        if milliseconds < 60_000 { return "+\(milliseconds / 1000).\(milliseconds % 1000 / 100) s" }
        if milliseconds < 3_600_000 { return "+\(milliseconds / 60_000) min" }
        return "+\(milliseconds / 3_600_000) h"
    }
}
