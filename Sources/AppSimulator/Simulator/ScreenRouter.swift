package import Foundation
import MartletKit
package import PushSupport

/// The screens of the app, of which a notification opens one.
package struct ScreenRouter: Sendable {
    /// A screen with the values of its parameters.
    package struct Opening: Hashable, Sendable {
        package let screen: String
        package let values: [String: PushSupport.JSONValue]
        /// The reason why it is the fallback; `nil` for the screen that the payload asks for.
        package let refusal: String?
    }

    private let router: NotificationRouter<[String: PushSupport.JSONValue]>

    /// Reads a rule file.
    /// - Throws: ``PhoneError`` that names the place in it.
    package init(rules text: Data) throws {
        do {
            let rules = try ScreenRules(json: text)
            let makers = rules.screens.map { screen in
                (screen.name, { @Sendable values in try Self.values(values, of: screen) })
            }
            self.router = try NotificationRouter(rules, destinations: Dictionary(makers) { first, _ in first })
        } catch {
            throw PhoneError("the rule file cannot be used: \(error)")
        }
    }

    /// Returns the screen that a payload opens; `nil` if it asks for none.
    func opening(_ notification: MartletKit.ReceivedNotification) -> Opening? {
        self.router.route(notification).map { route in
            Opening(screen: route.screen, values: route.destination, refusal: route.refusal?.description)
        }
    }

    private static func values(
        _ values: ScreenValues,
        of screen: NotificationScreen
    ) throws -> [String: PushSupport.JSONValue] {
        var texts: [String: PushSupport.JSONValue] = [:]
        for parameter in screen.parameters {
            texts[parameter.name] = try values.optional(parameter.name, as: AnyScreenValue.self)?.json
        }
        return texts
    }
}

/// A value of a screen of any type.
private struct AnyScreenValue: ScreenValue {
    let json: PushSupport.JSONValue

    init?(screenValue value: MartletKit.JSONValue) {
        guard let json = try? PushSupport.JSONValue(parsing: value.json) else { return nil }
        self.json = json
    }
}
