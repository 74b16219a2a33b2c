import ArgumentParser
import PushSupport

/// `martlet app set`: changes the settings of an app.
struct AppSetCommand: ResourceCommand {
    static let configuration = command(
        "set",
        "Change its name, its rate, its receipts, its cap, or what its installations may write."
    )
    .example("app set com.example.MyApp --rate 2000 --cap 3/24h --installation-tag 'news.*'")

    @OptionGroup var resource: ResourceOptions<AppCommand.App>
    @Option(help: "The name in lists.") var name: String?
    @Option(parsing: .unconditional, help: "Pushes per second of all its campaigns together.") var rate: Int?
    @Flag(help: "Remove the limit of pushes per second.") var noRate = false
    @Option(help: "none, counts or device: the most detailed receipts that apps may send.")
    var receipts: String?
    @Option(help: "COUNT/WINDOW, the maximum number of notifications of a user, such as 3/24h. Urgent ones are exempt.")
    var cap: CapValue?
    @Flag(help: "Remove the cap.") var noCap = false
    @Option(help: "A tag that installations may write, or news.* for all that begin like that; repeat it for several.")
    var installationTag: [String] = []
    @Option(help: "An attribute that installations may write; repeat it for several.")
    var installationAttribute: [String] = []
    @Flag(help: "Let installations write no tags and no attributes any more.") var noInstallationNames = false

    func validate() throws {
        guard self.rate == nil || !self.noRate else { throw ValidationError("Give --rate or --no-rate, not both.") }
        guard self.cap == nil || !self.noCap else { throw ValidationError("Give --cap or --no-cap, not both.") }
        let names = self.installationTag + self.installationAttribute
        guard names.isEmpty || !self.noInstallationNames else {
            throw ValidationError("Give names for installations or --no-installation-names, not both.")
        }
        guard !self.members.isEmpty else {
            throw ValidationError(
                """
                Give what to change: --name, --rate, --no-rate, --receipts, --cap, --no-cap, --installation-tag, \
                --installation-attribute or --no-installation-names.
                """
            )
        }
    }

    /// The members of the request.
    private var members: [String: JSONValue] {
        let none: JSONValue? = self.noInstallationNames ? .null : nil
        let members: [String: JSONValue?] = [
            "name": self.name?.json, "rate": self.noRate ? .null : self.rate?.json,
            "receipts": self.receipts?.json, "cap": self.noCap ? .null : self.cap?.json,
            "installationTags": none ?? .texts(self.installationTag),
            "installationAttributes": none ?? .texts(self.installationAttribute),
        ]
        return members.compactMapValues { $0 }
    }

    func request() -> APIRequest { self.resource.request(.patch).body(self.members) }
}

/// A cap as an option gives it.
struct CapValue: ExpressibleByArgument, Hashable, Sendable {
    let count: Int64
    let window: String

    /// Returns `nil` for a text that is not COUNT/WINDOW. The provider checks the values.
    init?(argument: String) {
        let parts = argument.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let count = Int64(parts[0]), !parts[1].isEmpty else { return nil }
        (self.count, self.window) = (count, String(parts[1]))
    }

    var json: JSONValue { ["count": .integer(self.count), "window": .string(self.window)] }
}
