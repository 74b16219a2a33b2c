import ArgumentParser
import ProviderModel
import PushSupport

/// `martlet user`: shows or erases a provider's data about a user.
struct UserCommand: AsyncParsableCommand {
    static let configuration = command("user", "The history, the badge and the preferences of a user.")
        .example("user history alice --app com.example.MyApp")
        .subcommands([ShowHistory<User>.self, Badge.self, UserPreferencesCommand.self, EraseResource<User>.self])

    enum User: ResourceWithHistory, ErasableResource {
        static let path = "users"
        static let id = ArgumentHelp("The user's id.", valueName: "user")
        static let history = command("history", "The deliveries and token events of the user's devices, newest first.")
            .example("user history alice --app com.example.MyApp")
        static let erase = command("remove", "Erase a user with everything that is kept of the user.")
            .example("user remove alice --app com.example.MyApp")
        static let loss = "the user's devices, their history, and notifications to the user alone"
    }

    /// `martlet user badge`: shows or sets the user's badge count.
    struct Badge: ResourceCommand {
        static let configuration = command("badge", "Show or set the user's badge count.")
            .example("user badge alice --set 0 --app com.example.MyApp")

        @OptionGroup var resource: ResourceOptions<User>
        @Option(parsing: .unconditional, help: "The new count, \(BadgeRequest.object["count"].bounds).")
        var set: Int?

        func request() -> APIRequest {
            guard let set else { return self.resource.request(.get, "badge") }
            return self.resource.request(.put, "badge").body(["count": set.json])
        }

        func text(of response: JSONValue) -> String { response["count"].plainText }
    }
}

/// `martlet user preferences`: shows or replaces a user's preferences.
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

/// The options for preferences: opt-outs and quiet hours.
struct PreferenceOptions: ParsableArguments {
    @Option(help: "A consent category that the user does not want; repeat it for several. Replaces all earlier ones.")
    var optOut: [String] = []
    @Option(help: "Hours without notifications, such as 22:00-07:00, in the time zone of each device.")
    var quietHours: QuietHoursValue?

    /// The preferences for the request, or `nil` if none of the options was given.
    var json: [String: JSONValue?]? {
        guard !self.optOut.isEmpty || self.quietHours != nil else { return nil }
        return ["optOuts": .texts(self.optOut), "quietHours": self.quietHours?.json]
    }
}

/// The value of the option for quiet hours, in the form `FROM-TO`.
struct QuietHoursValue: ExpressibleByArgument, Hashable, Sendable {
    let from, to: String

    /// Parses FROM-TO. Returns `nil` for any other argument. The provider checks the times.
    init?(argument: String) {
        let parts = argument.split(separator: "-", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty else { return nil }
        (self.from, self.to) = (parts[0], parts[1])
    }

    var json: JSONValue { ["from": self.from.json, "to": self.to.json] }
}
