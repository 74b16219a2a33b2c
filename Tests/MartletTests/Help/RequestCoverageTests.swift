import ArgumentParser
import Foundation
import ProviderAPI
import ProviderModel
import PushGateway
import PushProvider
import PushSupport
import PushTesting
import Testing

@testable import martlet

/// The options of commands beside the members of the requests that they stand for.
@Suite struct RequestCoverageTests {
    /// A command with all its options, and the list of members of its request.
    struct Command: Sendable, CustomTestStringConvertible {
        /// What is typed after `martlet`; several lines where options exclude each other. `FILE` is a file with `{}`.
        let lines: [String]
        let list: RequestObject
        /// The members without an option. An object stands for its members too.
        var without: Set<String> = []
        /// The members that a file holds, with all their own.
        var inFile: Set<String> = []
        /// The members of which options allow or mean some values only.
        var narrower: Set<String> = []

        var testDescription: String { self.lines.first ?? "" }
    }

    /// The members of a notification that only the file of a request holds.
    private static let onlyInFile: Set<String> = [
        "guarantee", "urgent", "when", "pace", "quietHours", "template", "localizations", "topic", "placeholder",
        "threadId", "category", "targetContentId", "interruptionLevel", "filterCriteria", "contentAvailable",
        "mutableContent", "relevanceScore", "data", "liveActivity", "mdm", "wallet", "contentChanged", "fileProvider",
        "pushToTalk", "web",
    ]

    private static let token = String(repeating: "ab", count: 32)

    private static let commands = [
        Command(
            lines: ["app add com.example.MyApp --name x --rate 5 --receipts counts"],
            list: AppRequest.addition
        ),
        Command(
            lines: [
                """
                app set com.example.MyApp --name x --rate 5 --receipts counts --cap 3/24h --installation-tag a \
                --installation-attribute b
                """
            ],
            list: AppRequest.change
        ),
        Command(lines: ["app pause com.example.MyApp --reason x"], list: AppRequest.stop),
        Command(lines: ["webhook add https://example.com/ --event token"], list: WebhookRequest.addition),
        Command(
            lines: ["webhook set 1 --url https://example.com/ --event token --active"],
            list: WebhookRequest.change
        ),
        Command(
            lines: ["webhook replay 1 --since 2026-12-01T08:00:00Z", "webhook replay 1 --block 1"],
            list: WebhookRequest.replay
        ),
        Command(
            lines: [
                "key add x --scope send --app com.example.MyApp --expires-at 2027-01-01T00:00:00Z --rate 5",
                "key add x --scope send --expires-in 5",
            ],
            list: APIKeyRequest.addition
        ),
        Command(
            lines: [
                "key set 1 --name x --scope send --app com.example.MyApp --expires-at 2027-01-01T00:00:00Z --rate 5",
                "key set 1 --expires-in 5",
            ],
            list: APIKeyRequest.change
        ),
        Command(
            lines: ["person add x --role author --app com.example.MyApp --language de"],
            list: PersonRequest.addition
        ),
        Command(
            lines: ["person set 1 --name x --role author --app com.example.MyApp --language de --disabled"],
            list: PersonRequest.change
        ),
        Command(
            lines: [
                """
                schedule add FILE --name x --cron @daily --time-zone UTC --missed-runs skip --from 2026-12-01T00:00:00Z \
                --until 2027-12-01T00:00:00Z
                """
            ],
            list: ScheduleRequest.object,
            without: ["schedule.maximumLatenessSeconds", "schedule.maximumRuns"],
            inFile: ["notification"]
        ),
        Command(
            lines: ["audience preview --tag x --environment sandbox --kind voip --limit 5"],
            list: AudienceRequest.preview,
            narrower: ["environment"]
        ),
        Command(
            lines: ["audience save x --tag y --description z --rename a --version 2"],
            list: AudienceRequest.named.saved
        ),
        Command(
            lines: ["template save x FILE --description z --rename a --version 2"],
            list: TemplateRequest.objects.saved
        ),
        Command(
            lines: ["template preview x --device \(Self.token) --user alice --version 2 --variable a=b"],
            list: PreviewRequest.template,
            without: ["subject"]
        ),
        Command(
            lines: ["template restore x --to-version 3"],
            list: LibraryItemRequest.restore,
            without: ["expectedVersion"]
        ),
        Command(
            lines: ["channel add --environment sandbox --stores --name x"],
            list: ChannelRequest.addition,
            narrower: ["environment", "storage"]
        ),
        Command(
            lines: [
                """
                send --all --title a --subtitle b --body c --badge 1 --sound default --payload FILE --push-type alert \
                --priority 10 --expiration 0 --expires-in 6h --name x --collapse-id y --receipts none \
                --environment sandbox --consent-category z --encrypted
                """
            ],
            list: NotificationRequest.object,
            without: Self.onlyInFile,
            narrower: ["environment"]
        ),
        Command(
            lines: [
                """
                broadcast dGVzdC1jaGFubmVsLTAx --state FILE --title a --body b --priority 10 --expiration 0 --name x \
                --expires-in 10m --environment sandbox
                """,
                "broadcast dGVzdC1jaGFubmVsLTAx --payload FILE",
            ],
            list: BroadcastRequest.object,
            without: [
                "guarantee", "sound", "relevanceScore", "liveActivity.timestamp", "liveActivity.staleDate",
                "liveActivity.dismissalDate", "liveActivity.attributes", "liveActivity.attributesType",
                "liveActivity.inputPushChannel", "liveActivity.inputPushToken",
            ],
            narrower: ["environment", "liveActivity.event"]
        ),
        Command(
            lines: ["notification resend 1 --state failed --reason x --expires-in 6h --name y"],
            list: ResendRequest.object,
            without: ["expiration"]
        ),
        Command(
            lines: ["notification preview FILE --device \(Self.token) --locale de --attribute a=b"],
            list: PreviewRequest.notification,
            without: ["user", "subject.user", "subject.timeZone", "subject.appVersion", "subject.badge"],
            inFile: NotificationRequest.object.known
        ),
        Command(
            lines: [
                """
                device add \(Self.token) --environment sandbox --kind voip --activity x --user alice --locale de \
                --time-zone UTC --app-version 1 --installation i --tag a --attribute b=c --opt-out d \
                --quiet-hours 22:00-07:00
                """
            ],
            list: DeviceRequest.object,
            without: ["subscription", "vapidKey", "capabilities", "encryptionKey"],
            narrower: ["environment"]
        ),
        Command(lines: ["user badge alice --set 5"], list: BadgeRequest.object),
        Command(
            lines: ["user preferences alice --opt-out x --quiet-hours 22:00-07:00"],
            list: Preferences.object
        ),
        Command(
            lines: [
                """
                device reactivate --since 2026-12-01T08:00:00Z --until 2026-12-02T08:00:00Z --reason x \
                --notification 1 --environment sandbox
                """
            ],
            list: ReactivationRequest.object,
            narrower: ["environment"]
        ),
        Command(
            lines: [
                """
                publication add x --account y --wave-size 1 --wave-interval 2 --maximum-bandwidth 3 \
                --maximum-downloads 4 --subscription s
                """
            ],
            list: PublicationRequest.addition
        ),
        Command(
            lines: [
                """
                publication set 1 --name x --account y --wave-size 1 --wave-interval 2 --maximum-bandwidth 3 \
                --maximum-downloads 4 --subscription s
                """
            ],
            list: PublicationRequest.change
        ),
        Command(
            lines: ["issue add com.example.i --publication 1 --title x --date 2026-11-20 --number 7 --access free"],
            list: IssueRequest.addition
        ),
        Command(
            lines: ["issue set 1 --product-id com.example.i --title x --date 2026-11-20 --number 7 --access free"],
            list: IssueRequest.change
        ),
        Command(lines: ["issue notify 1 --again"], list: IssueRequest.notify),
        Command(
            lines: ["entitlement set https://example.com/ --form xml --when-down allow --secret-file FILE"],
            list: EntitlementServerRequest.object
        ),
        Command(
            lines: ["entitlement test --product x --account y --token-file FILE"],
            list: EntitlementTestRequest.object
        ),
        Command(
            lines: ["gateway app add com.example.MyApp --team DEF123GHIJ --broadcast --token-length 32"],
            list: AdminAppRequest.addition
        ),
        Command(
            lines: ["gateway app set com.example.MyApp --broadcast --token-length 32"],
            list: AdminAppRequest.change
        ),
        Command(
            lines: [
                """
                gateway key add --team DEF123GHIJ --scope topics --environment sandbox --topic a --related ABC123DEFG \
                --key-id ABC123DEFH
                """,
                "gateway key add FILE --team DEF123GHIJ --key-id ABC123DEFH",
            ],
            list: AdminKeyRequest.object
        ),
        Command(
            lines: [
                """
                gateway certificate add --topic a --additional-topic b --environment sandbox --key-type p256 \
                --passphrase x
                """,
                "gateway certificate add --topic a --csr FILE",
            ],
            list: AdminCertificateRequest.object
        ),
        Command(
            lines: ["gateway channel add com.example.MyApp --environment sandbox --stores"],
            list: AdminChannelRequest.object
        ),
        Command(
            lines: ["gateway device add FILE --name x", "gateway device restore 1 FILE --name x"],
            list: AdminDeviceRequest.activation
        ),
        Command(lines: ["gateway device reinstall 1 FILE"], list: AdminDeviceRequest.reinstallation),
    ]

    @Test(arguments: Self.commands) func everyMemberHasAnOptionOrIsNamed(command: Command) async throws {
        var given: Set<String> = []
        for words in command.lines {
            guard case .object(let members)? = try await Self.body(words) else {
                Issue.record("no members: \(words)")
                continue
            }
            #expect(command.list.known.isSuperset(of: members.keys), "\(words)")
            given.formUnion(Self.paths(of: members, in: command.list.members))
        }
        let known = Set(Self.leaves(of: command.list.members).keys)
        let others = known.filter { path in !Self.isIn(command.without.union(command.inFile), path) }
        #expect(others.subtracting(given).sorted() == [], "without an option")
        let stale = command.without.filter { part in !known.contains { Self.isIn([part], $0) } }
        #expect(stale.sorted() == [], "no members")
        #expect(given.filter { Self.isIn(command.without, $0) }.sorted() == [], "with an option")
    }

    @Test(arguments: Self.commands) func theHelpNamesEveryChoice(command: Command) throws {
        let help = try command.lines.map { MartletCommand.helpMessage(for: try Self.type(of: $0), columns: 10_000) }
            .joined(separator: "\n")
        let words = Set(help.split { !$0.isLetter && !$0.isNumber && $0 != "-" }.map(String.init))
        for (path, schema) in Self.leaves(of: command.list.members) {
            guard !Self.isIn(command.without.union(command.inFile).union(command.narrower), path) else { continue }
            for choice in schema.choices { #expect(words.contains(choice), "\(path): \(choice)") }
        }
    }

    /// Credentials are read from files, of which the request has the contents.
    @Test func theHelpNamesEveryTransport() throws {
        let help = MartletCommand.helpMessage(for: CredentialCommand.Change.self, columns: 10_000)
        #expect(help.contains(CredentialRequest.object["transport"].words))
    }

    @Test func filesOfDevicesHaveTheFormatsOfTheAPI() {
        let ours = Schema.choice(of: TransferFormat.self).choices
        let formats = ours + Schema.choice(of: ForeignDeviceList.self).choices
        #expect(DeviceImportFormat.allCases.map(\.rawValue).sorted() == formats.sorted())
        #expect(DeviceFileFormat.allCases.map(\.rawValue).sorted() == ours.sorted())
    }

    @Test func wordsAreASentence() {
        #expect(Schema.choice([]).words == "")
        #expect(Schema.choice(["a"]).words == "a")
        #expect(Schema.choice(["a", "b"]).words == "a or b")
        #expect(Schema.choice(["a", "b", "c"]).words == "a, b or c")
        #expect(Schema.integer(1...5).bounds == "1 to 5")
    }

    // MARK: Commands

    /// Returns the command of a line. Its files do not have to exist.
    private static func command(_ line: String, file: String = "FILE") throws -> any ParsableCommand {
        let words = line.split(separator: " ").map { $0 == "FILE" ? file : String($0) }
        return try MartletCommand.parseAsRoot(words)
    }

    private static func type(of line: String) throws -> any ParsableCommand.Type {
        Swift.type(of: try Self.command(line))
    }

    /// Returns the body of the request that a command makes.
    private static func body(_ line: String) async throws -> JSONValue? {
        try await withTemporaryDirectory { directory in
            let path = "\(directory)/file.json"
            try Data("{}".utf8).write(to: URL(filePath: path))
            switch try Self.command(line, file: path) {
            case let command as any RequestCommand: return try command.request().body
            case let command as any GatewayActivationCommand: return command.request("x").body
            case let command as ChannelCommand.Add: return command.request().body
            case let command as EntitlementCommand.Test: return try command.request().body
            case let command as DeviceReactivateCommand: return command.request().body
            case let command as BroadcastCommand: return .members(try command.members())
            case let command as GatewayKeyCommand.Add: return .members(try command.members())
            case let command as GatewayCertificateCommand.Add: return .members(try command.members())
            case let command as SendCommand:
                return .members(try command.content.members().merging(["to": command.target.json]) { $1 })
            default: return nil
            }
        }
    }

    // MARK: Members

    /// Returns the members that have no members of their own, by their paths.
    private static func leaves(of members: [any RequestMemberProtocol], in place: String = "") -> [String: Schema] {
        members.reduce(into: [:]) { leaves, member in
            let path = place + member.name
            if member.members.isEmpty {
                leaves[path] = member.schema
            } else {
                leaves.merge(Self.leaves(of: member.members, in: "\(path).")) { $1 }
            }
        }
    }

    /// Returns the paths of the members that a request has.
    private static func paths(
        of values: [String: JSONValue],
        in members: [any RequestMemberProtocol],
        at place: String = ""
    ) -> Set<String> {
        members.reduce(into: []) { paths, member in
            guard let value = values[member.name] else { return }
            let path = place + member.name
            if case .object(let inner) = value, !member.members.isEmpty {
                paths.formUnion(Self.paths(of: inner, in: member.members, at: "\(path)."))
            } else {
                paths.insert(path)
            }
        }
    }

    /// Returns whether a path is one of some members, or a member of one of them.
    private static func isIn(_ parts: Set<String>, _ path: String) -> Bool {
        parts.contains { path == $0 || path.hasPrefix("\($0).") }
    }
}
