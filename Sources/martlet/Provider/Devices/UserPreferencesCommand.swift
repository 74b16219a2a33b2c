import ArgumentParser
import PushSupport

/// `martlet user preferences`: shows or sets what a user has said to the app's back end.
struct UserPreferencesCommand: ResourceCommand {
    static let configuration = command("preferences", "Show or replace a user's opt-outs and quiet hours.")
        .example("user preferences alice --opt-out marketing --quiet-hours 22:00-07:00 --app com.example.MyApp")

    @OptionGroup var resource: ResourceOptions<UserCommand.User>
    @OptionGroup var preferences: PreferenceOptions
    @Flag(help: "Remove all opt-outs and quiet hours.") var none = false

    func validate() throws {
        guard !self.none || self.preferences.json == nil else {
            throw ValidationError("Give --none, or what is to hold from now on, not both.")
        }
    }

    func request() -> APIRequest {
        let json = self.none ? [:] : self.preferences.json
        return json.map { self.resource.request(.put, "preferences").body($0) }
            ?? self.resource.request(.get, "preferences")
    }

    func text(of response: JSONValue) -> String {
        let optOuts = response["optOuts"].elements.compactMap(\.stringValue)
        let hours = response["quietHours"]
        let lines = [
            "opt-outs: \(optOuts.isEmpty ? "none" : optOuts.joined(separator: ", "))",
            hours == .null
                ? "quiet hours: none" : "quiet hours: \(hours["from"].plainText) to \(hours["to"].plainText)",
        ]
        return (lines + [response.pushesUnderWay].compactMap { $0 }).joined(separator: "\n")
    }
}

/// The options that say what is not wanted, and when.
struct PreferenceOptions: ParsableArguments {
    @Option(help: "A consent category that the user does not want; repeat it for several. Replaces all earlier ones.")
    var optOut: [String] = []
    @Option(help: "Hours without notifications, such as 22:00-07:00, in the time zone of each device.")
    var quietHours: QuietHoursValue?

    /// The preferences; `nil` if no option is given.
    var json: [String: JSONValue?]? {
        guard !self.optOut.isEmpty || self.quietHours != nil else { return nil }
        return ["optOuts": .texts(self.optOut), "quietHours": self.quietHours?.json]
    }
}

/// Quiet hours as an option gives them.
struct QuietHoursValue: ExpressibleByArgument, Hashable, Sendable {
    let from, to: String

    /// Returns `nil` for a text that is not FROM-TO. The provider checks the times.
    init?(argument: String) {
        let parts = argument.split(separator: "-", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty else { return nil }
        (self.from, self.to) = (parts[0], parts[1])
    }

    var json: JSONValue { ["from": self.from.json, "to": self.to.json] }
}
