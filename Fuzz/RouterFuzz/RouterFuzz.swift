import Foundation
import Fuzzing

@testable import MartletKit

/// Fuzzes rule files of the router, payloads and paths. The first byte of an input selects one; in one kind a rule file and a
/// payload are divided by a byte 0.
@main
enum RouterFuzz {
    /// The destinations of these tests tell the screen and its values.
    private struct Place: Hashable, Sendable {
        var screen: String
        var values: ScreenValues
    }

    private static let rules = Self.required {
        try ScreenRules(
            screens: [
                NotificationScreen(name: "home"), NotificationScreen(name: "empty", class: "Empty", path: "/"),
                NotificationScreen(
                    name: "order",
                    class: "Order",
                    path: "/orders/:id",
                    parameters: [.integer("id", in: 1...1000)]
                ),
                NotificationScreen(name: "newest", path: "/orders/newest"),
                NotificationScreen(
                    name: "all",
                    class: "All",
                    path: "/all/:text/:uuid",
                    parameters: [
                        .text("text", maximumLength: 20), .integer("integer", in: -5...5, isRequired: false),
                        .number("number", in: -0.5...0.5, isRequired: false), .boolean("boolean", isRequired: false),
                        .date("date", isRequired: false), .uuid("uuid", isRequired: false),
                        .choice("choice", of: ["one", "zwei"], isRequired: false),
                    ]
                ),
            ],
            fallback: "home"
        )
    }
    private static let router = Self.required { try Self.makeRouter(Self.rules) }

    static func main() {
        Fuzzer.run { input in
            let rest = Data(input.dropFirst())
            switch input.first.map({ $0 & 3 }) {
            case 0: Self.file(rest)
            case 1: Self.payload(rest, Self.rules, Self.router)
            case 2: Self.path(String(decoding: rest, as: UTF8.self))
            case nil: break
            default:
                let parts = rest.split(separator: 0, maxSplits: 1, omittingEmptySubsequences: false)
                guard parts.count == 2, let rules = try? ScreenRules(json: Data(parts[0])) else { return }
                Self.payload(Data(parts[1]), rules, Self.required { try Self.makeRouter(rules) })
            }
        }
    }

    private static func required<Value>(_ make: () throws -> Value) -> Value {
        do { return try make() } catch { preconditionFailure("\(error)") }
    }

    private static func makeRouter(_ rules: ScreenRules) throws -> NotificationRouter<Place> {
        let makers: [(String, NotificationRouter<Place>.Maker)] = rules.screens.map { screen in
            (screen.name, { values in Place(screen: screen.name, values: values) })
        }
        return try NotificationRouter(rules, destinations: Dictionary(uniqueKeysWithValues: makers))
    }

    /// Checks that a rule file which is taken keeps all limits, and that one which is not says where it is wrong.
    private static func file(_ text: Data) {
        do throws(ScreenRulesError) {
            let rules = try ScreenRules(json: text)
            let again = try? ScreenRules(screens: rules.screens, fallback: rules.fallback)
            precondition(again == rules, "code refuses the rules of a file")
            _ = Self.required { try Self.makeRouter(rules) }
        } catch {
            precondition(error.description.utf8.count < 1000, "a fault of \(error.description.utf8.count) bytes")
            precondition(!error.description.unicodeScalars.contains(where: \.isControl), "control characters")
        }
    }

    private static func payload(_ text: Data, _ rules: ScreenRules, _ router: NotificationRouter<Place>) {
        guard let notification = ReceivedNotification(json: text) else { return }
        let route = router.route(notification)
        let names = ["class", "property", "path"]
        let asks = names.contains { notification.data[$0] != nil && notification.data[$0] != .null }
        precondition((route != nil) == asks, "\(String(describing: route))")
        guard let route else { return }
        Self.check(route, rules)
        guard route.refusal == nil else { return }
        // The screen is one whose declared text the payload has.
        let screen = rules.screens.first { $0.name == route.screen }
        if case .string(let name)? = notification.data["class"] {
            precondition(screen?.class?.isSame(as: name) == true, "\(name) opened \(route)")
        } else {
            precondition(screen?.path != nil, "\(route) was opened without class and path")
        }
    }

    private static func path(_ path: String) {
        let route = Self.router.route(path: path)
        Self.check(route, Self.rules)
        let notification = ReceivedNotification(json: JSONValue.object(["path": .string(path)]).json)
        precondition(notification.flatMap { Self.router.route($0) } == route, "a payload's path is routed otherwise")
    }

    /// Checks that the screen is a declared one with values of its types and limits, or the fallback with a reason.
    private static func check(_ route: NotificationRoute<Place>, _ rules: ScreenRules) {
        precondition(route.destination.screen == route.screen, "\(route)")
        guard let screen = rules.screens.first(where: { $0.name == route.screen }) else {
            preconditionFailure("\(route.screen) was not declared")
        }
        if let refusal = route.refusal {
            precondition(route.screen == rules.fallback && route.destination.values == ScreenValues(), "\(route)")
            precondition(refusal.description.utf8.count < 1000, "a text of \(refusal.description.utf8.count) bytes")
            precondition(!refusal.description.unicodeScalars.contains(where: \.isControl), "control characters")
            return
        }
        for parameter in screen.parameters { Self.check(parameter, route.destination.values) }
    }

    private static func check(_ parameter: NotificationScreen.Parameter, _ values: ScreenValues) {
        let name = parameter.name
        let isPresent: Bool
        switch parameter.type {
        case .text(let maximumLength):
            let text = Self.required { try values.optional(name, as: String.self) }
            precondition((text?.utf8.count ?? 0) <= maximumLength, "\(name) is too long")
            precondition(text?.utf8.contains(0) != true, "\(name) has a byte 0")
            isPresent = text != nil
        case .integer(let range):
            let number = Self.required { try values.optional(name, as: Int64.self) }
            precondition(number.map { range.contains($0) } ?? true, "\(name) is outside")
            isPresent = number != nil
        case .number(let range):
            let number = Self.required { try values.optional(name, as: Double.self) }
            precondition(number.map { range.contains($0) } ?? true, "\(name) is outside")
            isPresent = number != nil
        case .boolean: isPresent = Self.required { try values.optional(name, as: Bool.self) } != nil
        case .date: isPresent = Self.required { try values.optional(name, as: Date.self) } != nil
        case .uuid: isPresent = Self.required { try values.optional(name, as: UUID.self) } != nil
        case .choice(let choices):
            let text = Self.required { try values.optional(name, as: String.self) }
            precondition(text.map { text in choices.contains { $0.isSame(as: text) } } ?? true, "\(name) is no choice")
            isPresent = text != nil
        }
        precondition(isPresent || !parameter.isRequired, "\(name) is missing")
    }
}
