import Hummingbird
import NIOCore
import ProviderAPI
import PushHTTP
import PushProvider
import PushStore
import PushSupport
import PushTypes
import WebPages

/// The app of a page, and what its pages share.
extension PageRequest {
    /// The path of the app in the API.
    var api: String { "/v1/apps/\(URLText.encoded(self.parameter("app")))" }

    /// The path of the app's pages, below the dashboard's.
    var appPath: String { "/apps/\(URLText.encoded(self.parameter("app")))" }

    /// Refuses the pages of an app that is none of the caller's, also those that ask the API for nothing.
    ///
    /// - Throws: ``RequestError``.
    func checkApp() throws {
        guard !self.app.isEmpty, self.session.caller.apps != nil else { return }
        guard let topic = Topic(self.app), self.session.caller.mayUse(topic) else {
            throw PageError.otherApp.error(self.texts["failure.otherApp"], kind: .forbidden)
        }
    }

    /// Refuses a page that is of no use without a scope. The API itself checks each request again.
    ///
    /// - Throws: ``RequestError``.
    func require(_ scope: APIScope) throws {
        guard !self.may(scope) else { return }
        let message = self.texts["failure.scope", ["scope": scope.rawValue]]
        throw PageError.scopeLacks.error(message, kind: .forbidden)
    }

    /// Returns the names of the app's audiences, the oldest first, 1,000 at most.
    func audienceNames() async throws -> [String] {
        let path = "\(self.api)/audiences:names?limit=1000"
        return try await self.list(path, of: LibraryNameResponse.self).entries.map(\.entry.name)
    }

    /// Returns a part of a page as a response, for the script of previews.
    func fragment(_ template: String, _ model: PageModel) -> Response {
        let html = self.part(template, model)
        let headers = SecurityHeaders.page(isSecure: self.interface.isSecure)
        return Response(status: .ok, headers: headers, body: .init(byteBuffer: ByteBuffer(string: html)))
    }
}
