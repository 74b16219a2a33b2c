/// A router that finds the screen that a notification opens, among those that the app has declared.
///
/// A payload has `class` and `property`, or `path`. Their values are only compared with declared screens, so that no
/// type is ever looked up by a string from a payload. A payload that the rules refuse opens the fallback screen, with
/// the reason.
public struct NotificationRouter<Destination: Sendable>: Sendable {
    /// A closure that creates the app's destination from the values of a screen, or throws to refuse the values.
    public typealias Maker = @Sendable (ScreenValues) throws -> Destination

    private struct Target: Sendable {
        let screen: NotificationScreen
        let make: Maker
    }

    private let byClass: [String: Target]
    /// The screens with a path, in the order in which their patterns are matched.
    private let byPath: [(pattern: PathPattern, target: Target)]
    private let fallback: NotificationRoute<Destination>

    /// Creates a router from validated rules.
    /// - Parameter destinations: The closures that create the app's destinations, by the names of the screens. A
    ///   closure may check more than types and limits. If it throws an error, the fallback is opened.
    /// - Throws: ``ScreenRulesError`` if a screen has no closure, a closure has no screen, or the closure of the
    ///   fallback throws an error.
    public init(_ rules: ScreenRules, destinations: [String: Maker]) throws(ScreenRulesError) {
        let names = Set(rules.screens.map(\.name))
        if let name = destinations.keys.sorted().first(where: { !names.contains($0) }) {
            throw ScreenRulesError("destinations", "the rules have no screen \(name)")
        }
        var byClass: [String: Target] = [:]
        var byPath: [(pattern: PathPattern, target: Target)] = []
        var fallback: NotificationRoute<Destination>?
        for (index, screen) in rules.screens.enumerated() {
            guard let make = destinations[screen.name] else {
                throw ScreenRulesError("screens[\(index)]", "the app has no destination \(screen.name)")
            }
            let target = Target(screen: screen, make: make)
            if let name = screen.class { byClass[name] = target }
            if let path = screen.path {
                byPath.append((try PathPattern(path, of: screen, at: "screens[\(index)].path"), target))
            }
            if screen.name == rules.fallback {
                do {
                    fallback = NotificationRoute(
                        destination: try make(ScreenValues()),
                        screen: screen.name,
                        refusal: nil
                    )
                } catch {
                    throw ScreenRulesError("fallback", "its destination refuses: \(error)")
                }
            }
        }
        guard let fallback else { throw ScreenRulesError("fallback", "no screen has this name") }
        self.byClass = byClass
        self.byPath = byPath.sorted { PathPattern.isBefore($0.pattern, $1.pattern) }
        self.fallback = fallback
    }

    /// Returns the screen that a notification opens. This is the fallback for a refused payload, and `nil` if the
    /// payload requests no screen.
    public func route(_ notification: ReceivedNotification) -> NotificationRoute<Destination>? {
        self.route(notification.data)
    }

    /// Returns the screen that the members of a payload besides `aps` request. This is the fallback if they are
    /// refused, and `nil` if they request none.
    public func route(_ data: [String: JSONValue]) -> NotificationRoute<Destination>? {
        // A template leaves a member out by making it null.
        let members = ["class", "property", "path"].filter { data[$0] != nil && data[$0] != .null }
        guard !members.isEmpty else { return nil }
        return self.attempt { () throws(RouteError) in
            if members == ["path"] {
                guard let path = data["path"]?.string else { throw RouteError(.wrongType, "path is no text") }
                return try self.target(path: path)
            }
            guard !members.contains("path") else {
                throw RouteError(.malformed, "path and class or property do not go together")
            }
            guard members.contains("class") else { throw RouteError(.malformed, "property needs class") }
            return try self.target(class: data["class"] ?? .null, property: data["property"] ?? .null)
        }
    }

    /// Returns the screen for a path such as `/orders/42?tab=items`, which may also be from a link, or the fallback if
    /// none matches.
    public func route(path: String) -> NotificationRoute<Destination> {
        self.attempt { () throws(RouteError) in try self.target(path: path) }
    }

    /// Returns the route to the screen that `find` returns, or to the fallback if `find` or the closure of the screen
    /// throws an error.
    private func attempt(_ find: () throws(RouteError) -> (Target, ScreenValues)) -> NotificationRoute<Destination> {
        let refusal: RouteError
        do throws(RouteError) {
            let (target, values) = try find()
            do {
                return NotificationRoute(destination: try target.make(values), screen: target.screen.name, refusal: nil)
            } catch let error as RouteError {
                refusal = error
            } catch {
                refusal = RouteError("the screen \(target.screen.name) refuses: \("\(error)".forLog)")
            }
        } catch {
            refusal = error
        }
        return NotificationRoute(destination: self.fallback.destination, screen: self.fallback.screen, refusal: refusal)
    }

    private func target(class name: JSONValue, property: JSONValue) throws(RouteError) -> (Target, ScreenValues) {
        guard let name = name.string else { throw RouteError(.wrongType, "class is no text") }
        guard name.utf8.count <= ScreenRules.Limit.class else {
            throw RouteError(.tooLong, "class has more than \(ScreenRules.Limit.class) bytes")
        }
        guard let target = self.byClass[name], target.screen.class?.isSame(as: name) == true else {
            throw RouteError(.unknownClass, "no screen has the class \(name.forLog)")
        }
        switch property {
        case .null: return (target, try target.screen.values(of: [String: JSONValue]()))
        case .object(let properties): return (target, try target.screen.values(of: properties))
        case .array: throw RouteError(.wrongType, "property is an array")
        case .bool, .integer, .number, .string:
            guard target.screen.parameters.count == 1, let parameter = target.screen.parameters.first else {
                throw RouteError(.malformed, "the screen \(target.screen.name) takes its properties by name")
            }
            return (target, try target.screen.values(of: [parameter.name: property]))
        }
    }

    private func target(path: String) throws(RouteError) -> (Target, ScreenValues) {
        let path = try RoutePath(path)
        for (pattern, target) in self.byPath {
            guard var texts = pattern.match(path.segments) else { continue }
            for (name, text) in path.query {
                guard texts.updateValue(text, forKey: name) == nil else {
                    throw RouteError(.malformed, "\(name.forLog) is in the path and in its query")
                }
            }
            return (target, try target.screen.values(of: texts))
        }
        throw RouteError(.unknownPath, "no screen has this path")
    }
}

/// The screen that a notification opens, with the app's destination.
public struct NotificationRoute<Destination: Sendable>: Sendable {
    public let destination: Destination
    /// The name of the screen, as the rules declare it.
    public let screen: String
    /// The reason why the fallback is opened, or `nil` if this is the screen that the payload requests.
    public let refusal: RouteError?
}

extension NotificationRoute: Equatable where Destination: Equatable {}

/// The reason why a payload opens the fallback instead of a screen. Its description is for the log. It contains names,
/// which are shortened and have no control characters, but no values, because these may be private.
public struct RouteError: Error, Hashable, Sendable, CustomStringConvertible {
    public enum Reason: String, Hashable, Sendable, CaseIterable {
        /// The fallback is opened because no screen has the payload's `class`.
        case unknownClass
        /// The fallback is opened because the pattern of no screen matches the path.
        case unknownPath
        /// The fallback is opened because the payload has a value for which the screen has no parameter.
        case unknownProperty
        /// The fallback is opened because the payload lacks a required value.
        case missingProperty
        /// The fallback is opened because a value is not of its parameter's type.
        case wrongType
        /// The fallback is opened because a value is outside its limits, or not one of the choices.
        case notAllowed
        /// The fallback is opened because a value is an array or an object, or a path has too many segments.
        case tooDeep
        /// The fallback is opened because a string is too long, or there are too many values.
        case tooLong
        /// The fallback is opened because the payload's members cannot be combined, or a path cannot be decoded.
        case malformed
        /// The fallback is opened because the app's closure for the screen refused the values.
        case rule
    }

    public let reason: Reason
    public let description: String

    init(_ reason: Reason, _ description: String) { (self.reason, self.description) = (reason, description) }

    /// Creates a refusal that the app's closure for a screen throws, with the reason ``Reason/rule``.
    public init(_ description: String) { self.init(.rule, description) }
}
