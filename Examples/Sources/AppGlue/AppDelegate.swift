#if canImport(UIKit) && os(iOS)
import MartletKit
import UIKit
import UserNotifications

/// The app's delegate: hands everything that arrives to MartletKit.
final class AppDelegate: NSObject, UIApplicationDelegate, UNUserNotificationCenterDelegate {
    let navigation = Navigation()
    private var martlet: Martlet?
    private var storage: FolderStorage?

    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions options: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
        UNUserNotificationCenter.current().delegate = self
        do {
            let group = "group.com.example.shop"
            guard let folder = FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: group) else {
                throw CocoaError(.fileNoSuchFile)
            }
            let storage = try Push.storage(folder)
            let martlet = try Push.martlet(storage, role: .app, handler: self.navigation)
            (self.storage, self.martlet) = (storage, martlet)
            Task { try await Self.launch(martlet, storage) }
        } catch {
            print("no push: \(error)")
        }
        return true
    }

    private static func launch(_ martlet: Martlet, _ storage: FolderStorage) async throws {
        let center = UNUserNotificationCenter.current()
        let isAllowed = try await center.requestAuthorization(options: [.alert, .badge, .sound])
        try await martlet.updateProfile(
            .current(capabilities: isAllowed ? [.alert, .badge, .sound, .background] : [.background])
        )
        // First, so that nothing that fails afterwards leaves the app without a token.
        UIApplication.shared.registerForRemoteNotifications()
        try await Push.enableEncryption(martlet, storage)
        // The user has seen what the badge counted.
        try BadgeCount(storage: storage).apply(.set(0))
        try await center.setBadgeCount(0)
    }

    func application(_ application: UIApplication, didRegisterForRemoteNotificationsWithDeviceToken token: Data) {
        Task { [martlet] in try await martlet?.register(token: token) }
    }

    func application(
        _ application: UIApplication,
        didReceiveRemoteNotification userInfo: [AnyHashable: Any]
    ) async -> UIBackgroundFetchResult {
        let notification = ReceivedNotification(userInfo: userInfo)
        switch await self.martlet?.receive(notification, .background).fetchResult {
        case .newData: return .newData
        case .failed: return .failed
        case .noData, nil: return .noData
        }
    }

    nonisolated func userNotificationCenter(
        _ center: UNUserNotificationCenter,
        willPresent notification: UNNotification
    ) async -> UNNotificationPresentationOptions {
        let received = ReceivedNotification(userInfo: notification.request.content.userInfo)
        guard let presentation = await self.martlet?.receive(received, .foreground).presentation else { return [] }
        var options: UNNotificationPresentationOptions = []
        if presentation.contains(.banner) { options.insert(.banner) }
        if presentation.contains(.list) { options.insert(.list) }
        if presentation.contains(.badge) { options.insert(.badge) }
        if presentation.contains(.sound) { options.insert(.sound) }
        return options
    }

    nonisolated func userNotificationCenter(
        _ center: UNUserNotificationCenter,
        didReceive response: UNNotificationResponse
    ) async {
        let received = ReceivedNotification(userInfo: response.notification.request.content.userInfo)
        let arrival: Arrival =
            switch response.actionIdentifier {
            case UNNotificationDefaultActionIdentifier: .opened
            case UNNotificationDismissActionIdentifier: .dismissed
            case let action: .action(action, text: (response as? UNTextInputNotificationResponse)?.userText)
            }
        _ = await self.martlet?.receive(received, arrival)
    }
}
#endif
