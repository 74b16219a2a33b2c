import ArgumentParser
import Foundation
import PushSupport

/// `martlet timeline`: shows the timeline of a push or a notification, or the timelines of a token or a user.
struct TimelineCommand: RequestCommand {
    static let configuration = command("timeline")
        .help("Show what happened to a push, a notification, a token or a user, in order and with durations.")
        .detail("It goes from the request to the receipt on the screen; for a token or a user, the newest deliveries.")
        .example("timeline --apns-id 3f1c…")
        .example("timeline --user anna --app com.example.MyApp")

    @OptionGroup var access: ProviderOptions
    @OptionGroup var flags: SettingFlags<AppSettings>
    @Option(help: "The push with this apns-id.") var apnsID: String?
    @Option(help: "The notification with this id: its own steps, with its pages summarized.") var notification: String?
    @Option(help: "The newest deliveries to this device token; needs --app.") var token: String?
    @Option(help: "The newest deliveries to this user; needs --app.") var user: String?
    @Option(help: "The maximum number of deliveries of a token or a user, up to 20. Default: 5.") var limit: Int?
    @Option(help: "The text 'next' of the previous page.") var cursor: String?

    func validate() throws {
        let subjects = [self.apnsID, self.notification, self.token, self.user].compactMap { $0 }
        guard subjects.count == 1 else {
            throw ValidationError("Name one of --apns-id, --notification, --token and --user.")
        }
        guard self.token == nil, self.user == nil, self.limit != nil || self.cursor != nil else { return }
        throw ValidationError("--limit and --cursor belong to --token and --user.")
    }

    func request() -> APIRequest { .get("timeline") }

    mutating func run() async throws {
        let settings = try await self.access.common.settings([self.access.api, self.flags])
        var app: String?
        if self.token != nil || self.user != nil {
            app = settings.string(AppSettings.app)
            guard app?.isEmpty == false else {
                throw SettingsError("name the app: --app, MARTLET_API_APP or api.app", status: .usage)
            }
        }
        let request = self.request().query([
            ("apnsId", self.apnsID), ("notification", self.notification), ("token", self.token), ("user", self.user),
            ("app", app), ("limit", self.limit.map { "\($0)" }), ("cursor", self.cursor),
        ])
        let response = try await APIConnection(client: ProviderOptions.authenticated(settings)).send(request)
        try self.access.print(response, self.text)
    }

    func text(of response: JSONValue) -> String { TimelineText.of(response) }
}

enum TimelineText {
    /// The names to show for the sources of steps that the API names differently.
    private static let sources = ["pushService": "push service"]

    static func of(_ response: JSONValue) -> String {
        let timelines = response["timelines"].elements
        var parts = timelines.map { Self.lines(of: $0).joined(separator: "\n") }
        if parts.isEmpty { parts = ["(no deliveries: nothing was sent, or what was sent is deleted for its age)"] }
        if let next = response["next"].stringValue { parts.append("more: --cursor \(next.printable)") }
        return parts.joined(separator: "\n\n")
    }

    /// Returns the lines of one timeline: a heading, the first step with its time, and each later step with the time
    /// since the previous one.
    static func lines(of timeline: JSONValue) -> [String] {
        var lines = [Self.heading(timeline)]
        let steps = timeline["steps"].elements
        let sources = steps.map { Self.sources[$0["source"].plainText] ?? $0["source"].plainText }
        let width = sources.map(\.count).max() ?? 0
        let first = steps.first.map { $0["atMs"].timeText } ?? ""
        for (index, step) in steps.enumerated() {
            let time = index == 0 ? first : Self.padded(Self.since(step["sinceMs"].integerValue), to: first.count)
            let source = sources[index].padding(toLength: width, withPad: " ", startingAt: 0)
            lines.append("\(time)  \(source)  \(step["text"].plainText.printable)")
        }
        return lines + timeline["notes"].elements.map { "note: \($0.plainText.printable)" }
    }

    private static func heading(_ timeline: JSONValue) -> String {
        var parts = [
            "\(timeline["kind"].plainText) \((timeline["apnsId"].stringValue ?? timeline["notification"].plainText))"
        ]
        if let token = timeline["token"].stringValue { parts.append("token \(token)") }
        if let app = timeline["app"].stringValue {
            parts.append("app \(app)" + (timeline["environment"].stringValue.map { ", \($0)" } ?? ""))
        }
        if timeline["apnsId"] != .null { parts.append("notification \(timeline["notification"].plainText)") }
        let reason = timeline["reason"].stringValue.map { ": \($0)" } ?? ""
        parts.append("\(timeline["state"].plainText)\(reason)")
        return parts.joined(separator: "; ").printable
    }

    /// Returns the time since the previous step, such as `+0.012 s`, or an empty string if it is unknown or negative.
    private static func since(_ milliseconds: Int64?) -> String {
        guard let milliseconds, milliseconds >= 0 else { return "" }
        let (seconds, rest) = milliseconds.quotientAndRemainder(dividingBy: 1000)
        guard seconds < 3600 else {
            let (hours, left) = seconds.quotientAndRemainder(dividingBy: 3600)
            return hours < 48 ? "+\(hours) h \(left / 60) min" : "+\(hours / 24) d \(hours % 24) h"
        }
        return "+\(seconds).\(String(1000 + rest).dropFirst()) s"
    }

    private static func padded(_ text: String, to width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.count)) + text
    }
}
