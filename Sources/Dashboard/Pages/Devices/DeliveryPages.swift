import Hummingbird
import PushHTTP
import PushProvider
import PushSupport
import WebPages

/// One delivery: what became of it, why, and every step.
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
        let apnsID = FormText.encoded(request.parameter("delivery"))
        let found = try await request.get("/v1/timeline?apnsId=\(apnsID)")
        let timeline = found["timelines"].elements.first ?? .null
        let id = timeline["notification"].stringValue ?? ""
        let notification = try await request.get("/v1/notifications/\(FormText.encoded(id))")
        guard notification["app"].stringValue == request.app else { throw RequestError.noSuch("delivery") }
        let reason = timeline["reason"].stringValue ?? ""
        let state = timeline["state"].stringValue ?? ""
        var model = PageValue.members(timeline)
        model["name"] = NotificationName.of(notification)
        model["notificationPath"] = "\(Dashboard.root)\(request.appPath)/notifications/\(FormText.encoded(id))"
        model["stateLabel"] = StateLabel.model(state, request.texts)
        model["reason"] = reason.isEmpty ? false : reason
        model["explanation"] =
            ReasonText.explanation(reason, request.texts) ?? request.texts.text("delivery.because.\(state)") ?? false
        model["isPending"] = state == "pending" || state == "sending"
        model["steps"] = timeline["steps"].elements.map { step -> PageModel in
            var model = PageValue.members(step)
            let source = step["source"].stringValue ?? ""
            model["sourceName"] = request.texts.text("delivery.sources.\(source)") ?? source
            model["sinceText"] = step["sinceMs"].integerValue.map(Self.length) ?? ""
            return model
        }
        return model
    }

    /// Returns a number of milliseconds as a short length of time.
    private static func length(_ milliseconds: Int64) -> String {
        if milliseconds < 1000 { return "+\(milliseconds) ms" }
        if milliseconds < 60_000 { return "+\(milliseconds / 1000).\(milliseconds % 1000 / 100) s" }
        if milliseconds < 3_600_000 { return "+\(milliseconds / 60_000) min" }
        return "+\(milliseconds / 3_600_000) h"
    }
}
