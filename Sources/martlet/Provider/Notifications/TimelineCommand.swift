import ArgumentParser
import PushSupport

/// `martlet timeline`: shows what happened with a push, a notification, a token or a user.
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
