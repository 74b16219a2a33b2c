import Foundation
import MartletKit

/// The screens of the app.
enum AppScreen: Hashable, Sendable {
    case inbox
    case order(Int, tab: OrderTab)
    case article(UUID)
}

enum OrderTab: String, ScreenValue {
    case items, notes
}

extension AppScreen {
    /// The rules in code.
    static func rules() throws -> ScreenRules {
        try ScreenRules(
            screens: [
                NotificationScreen(name: "inbox"),
                NotificationScreen(
                    name: "order",
                    class: "Order",
                    path: "/orders/:id",
                    parameters: [
                        .integer("id", in: 1...999_999),
                        .choice("tab", of: ["items", "notes"], isRequired: false),
                    ]
                ),
                NotificationScreen(name: "article", class: "Article", path: "/articles/:id", parameters: [.uuid("id")]),
            ],
            fallback: "inbox"
        )
    }

    /// The rules of a file, which the app for Android has too.
    static func rules(file: URL) throws -> ScreenRules {
        try ScreenRules(json: Data(contentsOf: file))
    }

    static func router(_ rules: ScreenRules) throws -> NotificationRouter<AppScreen> {
        try NotificationRouter(
            rules,
            destinations: [
                "inbox": { _ in .inbox },
                "order": { values in
                    let id = try values.required("id", as: Int.self)
                    // A rule of the app's own.
                    guard id != 13 else { throw RouteError("there is no order 13") }
                    return .order(id, tab: try values.optional("tab") ?? .items)
                },
                "article": { values in .article(try values.required("id")) },
            ]
        )
    }

    /// Returns the screen to open for a notification; `nil` if it asks for none.
    static func opened(by notification: ReceivedNotification, _ router: NotificationRouter<AppScreen>) -> AppScreen? {
        guard let route = router.route(notification) else { return nil }
        if let refusal = route.refusal { print("opened \(route.screen) instead: \(refusal)") }
        return route.destination
    }
}
