import Foundation
import MartletKit

/// Registers an installation with a provider, as an app does, and takes a notification.
///
///     RegisterApp http://127.0.0.1:8080 com.example.MyApp mk_public_… FOLDER
@main struct RegisterApp {
    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst()
        guard arguments.count == 4, let provider = URL(string: arguments[1]) else {
            print("usage: RegisterApp PROVIDER APP PUBLIC-KEY FOLDER")
            return
        }
        let folder = URL(fileURLWithPath: arguments[4])
        let martlet = try Self.makeMartlet(
            provider: provider,
            app: arguments[2],
            key: arguments[3],
            sharedFolder: folder
        )
        try await Self.launched(martlet, token: Data((0..<32).map { _ in UInt8.random(in: 0...255) }))
        try await Self.decided(martlet)
        await Self.received(martlet, userInfo: ["aps": ["alert": "Hello"], "path": "/orders/42"])
        await martlet.synchronize()
        if let status = await martlet.status() {
            print("installation \(status.installation), confirmed: \(status.isConfirmed)")
        }
    }

    /// Makes the app's side of push, once per process.
    static func makeMartlet(provider: URL, app: String, key: String, sharedFolder: URL) throws -> Martlet {
        let configuration = try Martlet.Configuration(provider: provider, app: app, key: key)
        let storage = try FolderStorage(folder: sharedFolder.appending(path: "martlet"))
        return Martlet(configuration, storage: storage, handler: Answers()) { event in
            print(event)
        }
    }

    /// Hands over what every launch brings: the settings of the device, and the token.
    static func launched(_ martlet: Martlet, token: Data) async throws {
        try await martlet.updateProfile(.current(capabilities: [.alert, .badge, .sound, .background]))
        try await martlet.register(token: token)
    }

    /// Attaches the user with the proof that the app's back end has signed for the installation.
    static func loggedIn(_ martlet: Martlet, proof: String) async throws {
        try await martlet.attach(userProof: proof)
    }

    /// Tells what the user has decided.
    static func decided(_ martlet: Martlet) async throws {
        guard var preferences = await martlet.status()?.preferences else { return }
        preferences.optOuts.insert("marketing")
        preferences.quietHours = NotificationPreferences.QuietHours(from: "22:00", to: "07:00")
        try await martlet.setPreferences(preferences)
        try await martlet.setReceiptPrivacy(.counts)
    }

    /// Downloads an issue of the publisher's into a folder.
    static func fetch(_ product: String, with configuration: Martlet.Configuration, into folder: URL) async throws {
        let newsstand = Newsstand(configuration)
        guard let catalogue = try await newsstand.catalogue(), let issue = catalogue.issues.first else { return }
        print("the newest is \(issue.title)")
        let grant = try await newsstand.downloadGrant(for: product, screenSize: "2048x1536")
        try await newsstand.download(grant.file, to: folder.appending(path: product)) { bytes in
            print("\(bytes) of \(grant.file.size) bytes")
        }
    }

    /// Hands over what the system gives, in whichever way it came.
    static func received(_ martlet: Martlet, userInfo: [AnyHashable: Any]) async {
        let notification = ReceivedNotification(userInfo: userInfo)
        let reception = await martlet.receive(notification, .opened)
        print(reception.notification.body ?? "no text")
    }
}

/// The app's answers to notifications; what it does not answer has a default.
struct Answers: NotificationHandler {
    func presentation(of notification: ReceivedNotification) async -> Presentation {
        notification.category == "CHAT" ? [.badge] : .all
    }

    func open(_ notification: ReceivedNotification) async {
        print("show the screen of \(notification.data["path"]?.string ?? "/")")
    }

    func perform(_ action: String, text: String?, of notification: ReceivedNotification) async {
        print("carry out \(action)")
    }
}
