public import ArgumentParser
import PushSupport
public import PushTypes

/// A kind of record in an API, such as apps or webhooks. A type that conforms to a refinement of this protocol
/// describes a kind. ``ListResources``, ``ShowResource``, ``RemoveResource`` and ``PerformAction`` are the commands for
/// it.
protocol Resource: SendableMetatype {
    /// The options with which commands connect to the server. For resources of an app, they include the app.
    associatedtype Access: APIAccess
    /// The path component for this kind, which precedes the id of a record.
    static var path: String { get }
}

/// A resource with a command `list`.
protocol ListableResource: Resource {
    /// The options with which the command `list` connects, if they differ from those for a single record.
    associatedtype ListAccess: APIAccess = Access
    associatedtype Filter: ListFilter = NoFilter
    static var columns: TextTable { get }
    static var list: CommandConfiguration { get }
}

/// The options that filter the entries of a list, for the command `list` of a kind of record.
protocol ListFilter: ParsableArguments {
    /// The query items that the options add to the request. Items without a value are left out.
    var query: [(String, String?)] { get }
    /// The maximum number of entries to print, or `nil` for all.
    var maximum: Int? { get }
}

/// A filter without options, which selects all entries.
struct NoFilter: ListFilter {
    var query: [(String, String?)] { [] }
    var maximum: Int? { nil }
}

/// A resource whose records have ids.
protocol IdentifiedResource: Resource {
    associatedtype ID: PathArgument = String
    static var id: ArgumentHelp { get }
}

/// A resource with a command `show`.
protocol ShowableResource: IdentifiedResource {
    static var show: CommandConfiguration { get }
    /// Returns the record in a response as human-readable text.
    static func details(_ response: JSONValue) -> String
}

extension ShowableResource where Self: ListableResource {
    static func details(_ response: JSONValue) -> String { self.columns.details(of: response) }
}

/// A resource with a command `remove`.
protocol RemovableResource: IdentifiedResource {
    static var remove: CommandConfiguration { get }
    static func removed(_ id: ID) -> String
}

/// The options of every command for one record: the server, and the id as an argument.
struct ResourceOptions<Kind: IdentifiedResource>: APIAccess {
    @OptionGroup var access: Kind.Access
    @Argument(help: Kind.id) var id: Kind.ID

    var json: Bool { self.access.json }

    func connection() async throws -> APIConnection { try await self.access.connection() }

    /// Creates a request for this record.
    /// - Parameter parts: The components of the path after the record's id. There are none for the record itself.
    func request(_ method: APIRequest.Method, _ parts: String...) -> APIRequest {
        APIRequest(method, [Kind.path, self.id.pathPart] + parts)
    }
}

/// The command that lists the resources of a kind.
struct ListResources<Kind: ListableResource>: ListCommand {
    static var configuration: CommandConfiguration { Kind.list }
    static var columns: TextTable { Kind.columns }

    @OptionGroup var access: Kind.ListAccess
    @OptionGroup var filter: Kind.Filter

    var limit: Int? { self.filter.maximum }

    func request() -> APIRequest { .get(Kind.path).query(self.filter.query) }
}

/// A command for one record. By default it prints the record that the response contains.
protocol ResourceCommand: RequestCommand {
    associatedtype Kind: IdentifiedResource
    var resource: ResourceOptions<Kind> { get }
}

extension ResourceCommand {
    var access: ResourceOptions<Kind> { self.resource }
}

extension ResourceCommand where Kind: ShowableResource {
    func text(of response: JSONValue) -> String { Kind.details(response) }
}

/// The command that shows one resource.
struct ShowResource<Kind: ShowableResource>: ResourceCommand {
    static var configuration: CommandConfiguration { Kind.show }

    @OptionGroup var resource: ResourceOptions<Kind>

    func request() -> APIRequest { self.resource.request(.get) }
}

/// The command that removes one resource.
struct RemoveResource<Kind: RemovableResource>: ResourceCommand {
    static var configuration: CommandConfiguration { Kind.remove }

    @OptionGroup var resource: ResourceOptions<Kind>

    func request() -> APIRequest { self.resource.request(.delete) }

    func text(of response: JSONValue) -> String { "\(Kind.removed(self.resource.id))\(response.underWay)" }
}

/// An action without options on one record, such as `pause`. The name of the command is also the last part of the path.
protocol ResourceAction: SendableMetatype {
    associatedtype Kind: IdentifiedResource
    static var configuration: CommandConfiguration { get }
    static func text(of response: JSONValue) -> String
}

extension ResourceAction where Kind: ShowableResource {
    static func text(of response: JSONValue) -> String { Kind.details(response) }
}

/// The command that performs an action on one resource.
struct PerformAction<Action: ResourceAction>: ResourceCommand {
    static var configuration: CommandConfiguration { Action.configuration }

    @OptionGroup var resource: ResourceOptions<Action.Kind>

    func request() -> APIRequest { self.resource.request(.post).action(Action.configuration.commandName ?? "") }

    func text(of response: JSONValue) -> String { Action.text(of: response) }
}

/// An argument that is a path component of a request.
protocol PathArgument: ExpressibleByArgument, Sendable {
    var pathPart: String { get }
}

extension String: PathArgument {
    var pathPart: String { self }
}

extension PushEnvironment: ExpressibleByArgument, PathArgument {
    var pathPart: String { self.rawValue }
}

extension DeviceTokenKind: ExpressibleByArgument {}

extension DeviceToken: ExpressibleByArgument, PathArgument {
    /// Parses a device token in hexadecimal or base64. Returns `nil` for any other text.
    public init?(argument: String) { self.init(userInput: argument) }

    var pathPart: String { self.hex }
}

extension ChannelID: ExpressibleByArgument {
    /// Parses the id of a broadcast channel in base64. Returns `nil` for any other text.
    public init?(argument: String) { self.init(argument) }
}

/// A kind of record with a command that erases a record and all data about it.
protocol ErasableResource: IdentifiedResource where ID == String {
    static var erase: CommandConfiguration { get }
    /// The description, for the confirmation prompt, of the data that an erasure destroys.
    static var loss: String { get }
}

/// The command that erases a record, after confirmation by typing its name or with `--yes`.
struct EraseResource<Kind: ErasableResource>: AsyncParsableCommand {
    static var configuration: CommandConfiguration { Kind.erase }

    private static var pause: Duration { .seconds(1) }

    @OptionGroup var resource: ResourceOptions<Kind>
    @Flag(help: "Do not ask.") var yes = false

    mutating func run() async throws {
        let (id, connection) = (self.resource.id, try await self.resource.connection())
        if !self.yes {
            StandardError.line("This erases \(id): \(Kind.loss). Type it again to go on, or give --yes:")
            guard readLine() == id else { throw SettingsError("nothing was erased: another name was typed") }
        }
        var response = try await connection.send(self.resource.request(.delete))
        while response["state"] == "erasing" {
            try await Task.sleep(for: Self.pause, clock: .continuous)
            do {
                response = try await connection.send(self.resource.request(.delete))
            } catch let error as APIErrorResponse where error.status == 404 {
                // The erasure was finished between two requests.
                response = ["state": "erased"]
            }
        }
        try self.resource.print(response) { _ in
            "\(id) is erased; the provider overwrites the database file within an hour, and backups stay as they are"
        }
    }
}
