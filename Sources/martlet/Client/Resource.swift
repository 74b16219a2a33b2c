import ArgumentParser
import PushSupport

/// A kind of record that an API keeps, such as apps or webhooks. Types that conform to the refinements of this protocol
/// describe a kind; ``ListResources``, ``ShowResource``, ``RemoveResource`` and ``PerformAction`` are the commands.
protocol Resource: SendableMetatype {
    /// The options by which commands reach the server; for resources of an app they name the app.
    associatedtype Access: APIAccess
    /// The part of the path that all of them have.
    static var path: String { get }
}

/// A resource with a command `list`.
protocol ListableResource: Resource {
    /// The options of that command, where a list needs others than a single resource.
    associatedtype ListAccess: APIAccess = Access
    /// The command's own options.
    associatedtype Filter: ListFilter = NoFilter
    /// The columns of the table.
    static var columns: TextTable { get }
    /// Name and help of the command.
    static var list: CommandConfiguration { get }
}

/// The options that choose the entries of a list.
protocol ListFilter: ParsableArguments {
    /// The items of the query.
    var query: [(String, String?)] { get }
    /// The most entries that are shown; `nil` for all.
    var maximum: Int? { get }
}

/// A list of everything.
struct NoFilter: ListFilter {
    var query: [(String, String?)] { [] }
    var maximum: Int? { nil }
}

/// A resource of which one is named by an id.
protocol IdentifiedResource: Resource {
    /// The type of an id.
    associatedtype ID: ResourceIdentifier = String
    /// Help and name of the id.
    static var id: ArgumentHelp { get }
}

/// A resource with a command `show`.
protocol ShowableResource: IdentifiedResource {
    /// Name and help of the command.
    static var show: CommandConfiguration { get }
    /// Returns what people see of one.
    static func details(_ response: JSONValue) -> String
}

extension ShowableResource where Self: ListableResource {
    static func details(_ response: JSONValue) -> String { self.columns.details(of: response) }
}

/// A resource with a command that removes one.
protocol RemovableResource: IdentifiedResource {
    /// Name and help of the command.
    static var remove: CommandConfiguration { get }
    /// Returns the message once one is removed.
    static func removed(_ id: ID) -> String
}

/// The options of every command about one resource: the server, and the id as an argument.
struct ResourceOptions<Kind: IdentifiedResource>: APIAccess {
    @OptionGroup var access: Kind.Access
    @Argument(help: Kind.id) var id: Kind.ID

    var json: Bool { self.access.json }

    func connection() async throws -> APIConnection { try await self.access.connection() }

    /// Returns a request about this resource.
    /// - Parameter parts: The further parts of the path.
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

/// A command about one resource; by default it prints the resource afterwards.
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

/// An action on one resource without options, such as `pause`. Its name in the path is the command's.
protocol ResourceAction: SendableMetatype {
    associatedtype Kind: IdentifiedResource
    /// Name and help of the command.
    static var configuration: CommandConfiguration { get }
    /// Returns what people see of the response.
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
