import ArgumentParser
import ProviderModel
import PushSupport

/// `martlet issue`: manages the issues of publications, and notifies devices of them.
struct IssueCommand: AsyncParsableCommand {
    static let configuration = command("issue", "The issues of publications, from the draft to Notify.")
        .example("issue add com.example.issue7 --title 'Issue 7' --date 2026-11-20 --publication 52c4…")
        .subcommands([
            List.self, ShowResource<Issue>.self, Add.self, Change.self, IssueUploadCommand.self, Uploads.self,
            PerformAction<Publish>.self, PerformAction<Withdraw>.self, Preview.self, Notify.self,
            RemoveResource<Issue>.self,
        ])

    private static let access = IssueRequest.change["access"].words

    enum Issue: ProviderResource, ShowableResource, RemovableResource {
        static let path = "issues"
        static let id = ArgumentHelp("The issue's id.")
        static let columns: TextTable = [
            "id", .init("product id", "productId"), "title", "number", "date", "state", "access",
            .time("published", "publishedAtMs"), "notification",
        ]
        static let show = command("show", "Show an issue with its files.").example("issue show 7d6f…")
        static let remove = command("remove", "Remove an issue that is not published.").example("issue remove 7d6f…")

        static func details(_ response: JSONValue) -> String {
            let renditions = response["renditions"].elements.map { rendition in
                "\(rendition["screenSize"].plainText) (\(rendition["file"]["size"].plainText) bytes)"
            }
            let files = response.replacing([
                "renditions": .string(renditions.joined(separator: ", ")), "cover": response["cover"]["name"],
            ])
            return (self.columns + ["cover", "renditions"]).details(of: files)
        }

        static func removed(_ id: String) -> String { "the issue is removed" }
    }

    /// `martlet issue list`: lists the issues of a publication.
    struct List: ListCommand {
        static let configuration = command("list", "List the issues of a publication, the newest first.")
            .example("issue list --publication 52c4… --state draft")
        static let columns = Issue.columns
        static let member: String? = Issue.path

        @OptionGroup var access: ProviderOptions
        @Option(help: "The publication's id.") var publication: String
        @Option(help: "Only those in this state: \(Schema.choice(of: IssueState.self).words).") var state: String?
        @Option(help: "\(Schema.choice(of: IssueOrder.self).words). Default: newest.") var sort: String?
        @OptionGroup var shown: LimitOption

        var limit: Int? { self.shown.limit }

        func request() -> APIRequest {
            .get(PublicationCommand.Publication.path, self.publication, Issue.path)
                .query([("state", self.state), ("sort", self.sort)])
        }
    }

    /// `martlet issue add`: adds an issue as a draft.
    struct Add: RequestCommand {
        static let configuration = command("add", "Add a draft, which no app sees.")
            .example("issue add com.example.issue7 --title 'Issue 7' --date 2026-11-20 --publication 52c4…")

        @OptionGroup var access: ProviderOptions
        @Argument(help: "The product id: dev_test.… is for development builds.") var productID: String
        @Option(help: "The publication's id.") var publication: String
        @Option(help: "Its title.") var title: String
        @Option(help: "Its date, as 2026-11-20.") var date: String
        @Option(help: "The number that readers see.") var number: String?
        @Option(name: .customLong("access"), help: "\(IssueCommand.access). Default: free.")
        var readers: String?

        func request() -> APIRequest {
            .post(PublicationCommand.Publication.path, self.publication, Issue.path).body([
                "productId": self.productID.json, "title": self.title.json, "date": self.date.json,
                "number": self.number?.json, "access": self.readers?.json,
            ])
        }

        func text(of response: JSONValue) -> String { Issue.details(response) }
    }

    /// `martlet issue set`: changes an issue.
    struct Change: ResourceCommand {
        static let configuration = command("set", "Change an issue.").example(
            "issue set 7d6f… --title 'Issue 7, mended'"
        )

        @OptionGroup var resource: ResourceOptions<Issue>
        @Option(help: "Its product id, before it is published.") var productID: String?
        @Option(help: "Its title.") var title: String?
        @Option(help: "Its date, as 2026-11-20.") var date: String?
        @Option(help: "The number that readers see; '' for none.") var number: String?
        @Option(name: .customLong("access"), help: "\(IssueCommand.access).") var readers: String?

        func validate() throws {
            guard [self.productID, self.title, self.date, self.number, self.readers].contains(where: { $0 != nil })
            else {
                throw ValidationError("Give what to change, such as --title.")
            }
        }

        func request() -> APIRequest {
            self.resource.request(.patch).body([
                "productId": self.productID?.json, "title": self.title?.json, "date": self.date?.json,
                "number": self.number.map { $0.isEmpty ? .null : $0.json }, "access": self.readers?.json,
            ])
        }
    }

    /// `martlet issue uploads`: lists the uploads that are not complete.
    struct Uploads: ListCommand {
        static let configuration = command("uploads", "List the incomplete uploads of an app.")
            .detail("'martlet issue upload --upload ID' continues an upload with its file.")
            .example("issue uploads --app com.example.MyApp")
        static let columns: TextTable = [
            "id", "name", "size", .init("received", "offset"), .time("since", "createdAtMs"),
            .time("latest bytes", "changedAtMs"),
        ]

        @OptionGroup var access: AppOptions

        func request() -> APIRequest { .get("uploads") }
    }

    /// `martlet issue preview`: shows the effect that `martlet issue notify` would have.
    struct Preview: ResourceCommand {
        static let configuration = command("preview", "Show the devices and the waves of Notify, or why it is refused.")
            .example("issue preview 7d6f…")
        private static let columns: TextTable = [
            "environment", "devices", .init("waves", "waveCount"), .init("wave", "waves.size"),
            .init("seconds", "waves.intervalSeconds"), .init("refused", "refusal.message"),
        ]

        @OptionGroup var resource: ResourceOptions<Issue>

        func request() -> APIRequest { self.resource.request(.post).action("preview") }
        func text(of response: JSONValue) -> String { Self.columns.details(of: response) }
    }

    /// `martlet issue notify`: notifies devices of a published issue.
    struct Notify: ResourceCommand {
        static let configuration = command("notify", "Wake the devices with Newsstand to load an issue, in waves.")
            .detail("An issue is notified of once: a further call says when that was, and wakes nobody.")
            .detail("The status is 3 if no device has Newsstand, so nobody is woken; use --again once there are some.")
            .detail("'martlet notification watch' follows the notification.")
            .example("issue notify 7d6f…")

        @OptionGroup var resource: ResourceOptions<Issue>
        @Flag(help: "Notify once more, if the earlier notification has ended.") var again = false

        func request() -> APIRequest {
            self.resource.request(.post).action("notify").body(["again": self.again ? true.json : nil])
        }

        mutating func run() async throws {
            let response = try await self.resource.connection().send(self.request())
            Self.warn(response)
            try self.resource.print(response, self.text)
            if response.reachesNobody { throw ExitCode(ExitStatus.nobodyReached.rawValue) }
        }

        func text(of response: JSONValue) -> String {
            "notification \(response["id"].plainText): \(NotificationProgressText.of(response))"
        }

        /// Prints the warnings of a response to standard error. If devices were already notified of the issue, suggests
        /// `--again`.
        private static func warn(_ response: JSONValue) {
            guard response["warnings"].elements.contains(where: { $0["field"] == "again" }) else {
                return PreviewText.warn(response)
            }
            let remedy = response.hasEnded ? "use --again to notify once more" : "it has not ended yet"
            StandardError.line("already notified at \(response["createdAtMs"].timeText): \(remedy)".printable)
        }
    }

    /// An action on an issue.
    protocol Action: ResourceAction where Kind == Issue {}

    /// `martlet issue publish`: adds an issue to the catalogue.
    enum Publish: Action {
        static let configuration = command("publish", "Put an issue into the catalogue.").example("issue publish 7d6f…")

        static func text(of response: JSONValue) -> String {
            PreviewText.warn(response)
            return Issue.details(response)
        }
    }

    /// `martlet issue withdraw`: removes an issue from the catalogue.
    enum Withdraw: Action {
        static let configuration = command(
            "withdraw",
            "Take an issue out of the catalogue; it can no longer be downloaded."
        )
        .example("issue withdraw 7d6f…")

        static func text(of response: JSONValue) -> String {
            [Issue.details(response), response.pushesUnderWay].compactMap { $0 }.joined(separator: "\n")
        }
    }
}
