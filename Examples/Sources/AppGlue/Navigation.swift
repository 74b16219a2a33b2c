#if canImport(UIKit) && canImport(SwiftUI) && os(iOS)
import MartletKit
import SwiftUI
import UIKit

/// The screens that are open, for SwiftUI; MartletKit's handler.
@MainActor @Observable
final class Navigation: NotificationHandler {
    var path: [AppScreen] = []
    private let router = try? AppScreen.router(AppScreen.rules())

    // Said again, because the protocol's method runs wherever it is called from.
    @MainActor func open(_ notification: ReceivedNotification) async {
        guard let router, let screen = AppScreen.opened(by: notification, router) else { return }
        self.path = screen == .inbox ? [] : [screen]
    }

    func perform(_ action: String, text: String?, of notification: ReceivedNotification) async {
        print("the user chose \(action)")
    }

    /// Opens the screen of a link, such as `https://shop.example.com/orders/42`.
    func open(_ link: URL) {
        let query = link.query(percentEncoded: true).map { "?\($0)" } ?? ""
        guard let route = self.router?.route(path: link.path(percentEncoded: true) + query) else { return }
        self.path = route.destination == .inbox ? [] : [route.destination]
    }
}

struct ShopApp: App {
    @UIApplicationDelegateAdaptor(AppDelegate.self) private var delegate

    var body: some Scene {
        WindowGroup {
            @Bindable var navigation = self.delegate.navigation
            NavigationStack(path: $navigation.path) {
                Text("Inbox")
                    .navigationDestination(for: AppScreen.self) { screen in
                        switch screen {
                        case .inbox: Text("Inbox")
                        case .order(let id, let tab): Text("Order \(id), \(tab.rawValue)")
                        case .article(let id): Text("Article \(id.uuidString)")
                        }
                    }
            }
            .onOpenURL { link in self.delegate.navigation.open(link) }
        }
    }
}

/// The same for an app with view controllers, which makes each of them from a case and never from a name.
@MainActor
struct ScreenOpener {
    let controller: UINavigationController

    func open(_ screen: AppScreen) {
        let next: UIViewController
        switch screen {
        case .inbox:
            self.controller.popToRootViewController(animated: true)
            return
        case .order(let id, _): next = self.titled("Order \(id)")
        case .article(let id): next = self.titled("Article \(id.uuidString)")
        }
        self.controller.pushViewController(next, animated: true)
    }

    private func titled(_ title: String) -> UIViewController {
        let controller = UIViewController()
        controller.title = title
        return controller
    }
}
#endif
