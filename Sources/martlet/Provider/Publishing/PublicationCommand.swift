import ArgumentParser
import ProviderModel
import PushSupport

/// `martlet publication`: manages the publications of an app.
struct PublicationCommand: AsyncParsableCommand {
    static let configuration = command("publication", "The publications of an app, whose issues devices download.")
        .example("publication add 'The Example' --app com.example.MyApp")
        .subcommands([
            ListResources<Publication>.self, ShowResource<Publication>.self, Add.self, Change.self,
            RemoveResource<Publication>.self, Catalogue.self, Downloads.self,
        ])

    enum Publication: ProviderResource, ListableResource, ShowableResource, RemovableResource {
        typealias ListAccess = AppOptions

        static let path = "publications"
        static let id = ArgumentHelp("The publication's id.")
        static let columns: TextTable = [
            "id", "name", "account", .init("wave", "waves.size"), .init("seconds", "waves.intervalSeconds"),
            .init("waits from downloads", "waves.steering.maximumDownloads"),
            .init("waits from bytes/s", "waves.steering.maximumBandwidth"),
            .init("subscriptions", "subscriptionProducts"), .time("since", "createdAtMs"),
        ]
        static let list = command("list", "List the publications of an app.")
            .example("publication list --app com.example.MyApp")
        static let show = command("show", "Show a publication.").example("publication show 52c4…")
        static let remove = command("remove", "Remove a publication without issues.")
            .example("publication remove 52c4…")

        static func removed(_ id: String) -> String { "the publication is removed" }
    }

    /// The options for the waves in which devices are notified of an issue.
    struct Waves: ParsableArguments {
        private static let list = PublicationRequest.change

        @Option(help: "The number of devices that are notified in one wave, \(Self.list["waves.size"].bounds).")
        var waveSize: Int?
        @Option(help: "Seconds from one wave to the next, \(Self.list["waves.intervalSeconds"].bounds).")
        var waveInterval: Int?
        @Option(help: "Bytes per second of downloads at which the next wave waits; 0 for no limit.")
        var maximumBandwidth: Int?
        @Option(help: "Open downloads at which the next wave waits; 0 for no limit.") var maximumDownloads: Int?

        /// A Boolean value that indicates whether an option limits the concurrent downloads or their bandwidth, above
        /// which a wave waits.
        var hasLimit: Bool { self.maximumBandwidth != nil || self.maximumDownloads != nil }

        /// Returns the member `waves` of a request, or `nil` if none of the options was given.
        /// - Parameter clearsSteering: Pass `true` to remove the limits of concurrent downloads and of their bandwidth.
        func member(clearsSteering: Bool = false) -> JSONValue? {
            func limit(_ value: Int?) -> JSONValue? { value.map { $0 == 0 ? .null : $0.json } }
            let limits: [String: JSONValue?] = [
                "maximumBandwidth": limit(self.maximumBandwidth), "maximumDownloads": limit(self.maximumDownloads),
            ]
            let steering = limits.compactMapValues(\.self)
            let waves: [String: JSONValue?] = [
                "size": self.waveSize?.json, "intervalSeconds": self.waveInterval?.json,
                "steering": clearsSteering ? .null : steering.isEmpty ? nil : .object(steering),
            ]
            let members = waves.compactMapValues(\.self)
            return members.isEmpty ? nil : .object(members)
        }
    }

    /// `martlet publication add`: adds a publication.
    struct Add: RequestCommand {
        static let configuration = command("add", "Add a publication.")
            .example("publication add 'The Example' --wave-size 5000 --app com.example.MyApp")

        @OptionGroup var access: AppOptions
        @Argument(help: "Its name.") var name: String
        @Option(help: "The publisher's account whose devices see its issues. Default: all devices.") var account:
            String?
        @OptionGroup var waves: Waves
        @Option(help: "An App Store subscription that entitles to its issues; repeat it for several.")
        var subscription: [String] = []

        func request() -> APIRequest {
            .post(Publication.path).body([
                "name": self.name.json, "account": self.account?.json, "waves": self.waves.member(),
                "subscriptionProducts": .texts(self.subscription),
            ])
        }

        func text(of response: JSONValue) -> String { Publication.details(response) }
    }

    /// `martlet publication set`: changes a publication.
    struct Change: ResourceCommand {
        static let configuration = command("set", "Change the name, the account or the waves of a publication.")
            .example("publication set 52c4… --maximum-downloads 500")

        @OptionGroup var resource: ResourceOptions<Publication>
        @Option(help: "Its name.") var name: String?
        @Option(help: "The publisher's account whose devices see its issues; '' for all devices.") var account: String?
        @OptionGroup var waves: Waves
        @Option(
            help: "A subscription that entitles to its issues; repeat it for several. They replace all earlier ones."
        )
        var subscription: [String] = []
        @Flag(help: "Let no subscription entitle to its issues any more.") var noSubscriptions = false
        @Flag(help: "Let the waves wait for no downloads any more.") var noSteering = false

        func validate() throws {
            guard self.subscription.isEmpty || !self.noSubscriptions else {
                throw ValidationError("Give --subscription or --no-subscriptions, not both.")
            }
            guard !self.waves.hasLimit || !self.noSteering else {
                throw ValidationError("Give limits of downloads or --no-steering, not both.")
            }
            guard !self.members.isEmpty else {
                throw ValidationError("Give what to change, such as --name or --wave-size.")
            }
        }

        private var members: [String: JSONValue] {
            let members: [String: JSONValue?] = [
                "name": self.name?.json, "account": self.account.map { $0.isEmpty ? .null : $0.json },
                "waves": self.waves.member(clearsSteering: self.noSteering),
                "subscriptionProducts": self.noSubscriptions ? .array([]) : .texts(self.subscription),
            ]
            return members.compactMapValues(\.self)
        }

        func request() -> APIRequest { self.resource.request(.patch).body(self.members) }
    }

    /// `martlet publication catalogue`: shows the catalogue that apps receive.
    struct Catalogue: ListCommand {
        static let configuration = command("catalogue", "List the published issues as apps see them, the newest first.")
            .example("publication catalogue --app com.example.MyApp")
        static let columns: TextTable = [
            .init("product id", "productId"), .init("publication", "publicationName"), "title", "number", "date",
            "access", .time("published", "publishedAtMs"),
        ]
        static let member: String? = "issues"

        @OptionGroup var access: AppOptions
        @Option(help: "Include the publications of this account.") var account: String?
        @OptionGroup var shown: LimitOption

        var limit: Int? { self.shown.limit }

        func request() -> APIRequest { .get("catalogue").action("preview").query([("account", self.account)]) }
    }

    /// `martlet publication downloads`: shows the open downloads and their bandwidth, whose limits can delay waves.
    struct Downloads: RequestCommand {
        static let configuration = command("downloads", "Show an app's open downloads and their bandwidth.")
            .example("publication downloads --app com.example.MyApp")
        private static let columns: TextTable = [
            .init("open downloads", "openDownloads"), .init("bytes per second", "bytesPerSecond"),
        ]

        @OptionGroup var access: AppOptions

        func request() -> APIRequest { .get("downloads") }
        func text(of response: JSONValue) -> String { Self.columns.details(of: response) }
    }
}
