import ArgumentParser
import PushSupport

/// A kind of record that an API keeps, such as apps or webhooks. Types that conform to this protocol and its
/// refinements describe a kind; ``ListResources``, ``ShowResource``, ``RemoveResource`` and ``PerformAction`` are the
/// commands.
protocol Resource: SendableMetatype {
    /// The parts of the path to all of them.
    static var path: [String] { get }
}

/// A resource with a command `list` that has no options of its own.
protocol ListedResource: Resource {
    /// The options by which the command reaches the server; for resources of an app they name the app.
    associatedtype ListAccess: APIAccess
    /// The columns of the table.
    static var columns: [TextTable.Column] { get }
    /// Name and help of the command.
    static var list: CommandConfiguration { get }
}

/// A resource of which one is named by an id.
protocol IdentifiedResource: Resource {
    /// The options by which commands about one resource reach the server.
    associatedtype Access: APIAccess
    /// Help and name of the id.
    static var id: ArgumentHelp { get }
}

/// A resource with a command `show`.
protocol ShownResource: IdentifiedResource {
    /// Name and help of the command.
    static var show: CommandConfiguration { get }
    /// Returns what people see of one.
    static func details(_ response: JSONValue) -> String
}

/// A resource with a command that removes one.
protocol RemovedResource: IdentifiedResource {
    /// Name and help of the command.
    static var remove: CommandConfiguration { get }
    /// Returns the message once one is removed.
    static func removed(_ id: String) -> String
}

/// The id of one resource, as an argument.
struct ResourceID<Kind: IdentifiedResource>: ParsableArguments {
    @Argument(help: Kind.id) var id: String

    /// Returns a request about this one.
    /// - Parameter parts: the further parts of the path.
    func request(
        _ method: APIRequest.Method,
        _ parts: [String] = [],
        action: String? = nil,
        query: [(String, String?)] = [],
        body: [String: JSONValue?]? = nil
    ) -> APIRequest {
        APIRequest(method, Kind.path + [self.id] + parts, action: action, query: query, body: body)
    }
}

/// The command that lists the resources of a kind.
struct ListResources<Kind: ListedResource>: ListCommand {
    static var configuration: CommandConfiguration { Kind.list }
    static var member: String { Kind.path.last ?? "" }
    static var columns: [TextTable.Column] { Kind.columns }

    @OptionGroup var access: Kind.ListAccess

    var request: APIRequest { APIRequest(.get, Kind.path) }
}

/// The command that shows one resource.
struct ShowResource<Kind: ShownResource>: RequestCommand {
    static var configuration: CommandConfiguration { Kind.show }

    @OptionGroup var access: Kind.Access
    @OptionGroup var resource: ResourceID<Kind>

    var request: APIRequest { self.resource.request(.get) }

    func text(of response: JSONValue) -> String { Kind.details(response) }
}

/// The command that removes one resource.
struct RemoveResource<Kind: RemovedResource>: RequestCommand {
    static var configuration: CommandConfiguration { Kind.remove }

    @OptionGroup var access: Kind.Access
    @OptionGroup var resource: ResourceID<Kind>

    var request: APIRequest { self.resource.request(.delete) }

    func text(of response: JSONValue) -> String { Kind.removed(self.resource.id) }
}

/// An action on one resource without options, such as `pause`. Its name in the path is the command's.
protocol ResourceAction: SendableMetatype {
    associatedtype Kind: IdentifiedResource
    /// Name and help of the command.
    static var configuration: CommandConfiguration { get }
    /// Returns what people see of the response.
    static func text(of response: JSONValue) -> String
}

extension ResourceAction where Kind: ShownResource {
    static func text(of response: JSONValue) -> String { Kind.details(response) }
}

/// The command that performs an action on one resource.
struct PerformAction<Action: ResourceAction>: RequestCommand {
    static var configuration: CommandConfiguration { Action.configuration }

    @OptionGroup var access: Action.Kind.Access
    @OptionGroup var resource: ResourceID<Action.Kind>

    var request: APIRequest { self.resource.request(.post, action: Action.configuration.commandName) }

    func text(of response: JSONValue) -> String { Action.text(of: response) }
}
