import Hummingbird
import ProviderAPI
import ProviderModel
import PushHTTP
import PushSupport
import WebPages

/// The page with the publications of an app and their newest issues, and the form that adds a publication.
struct PublicationListPages: FormArea {
    private static let newest = 3

    var routes: [PageRoute] {
        [
            .get("/apps/{app}/publishing", { try await self.page($0, error: nil) }),
            self.form("/apps/{app}/publishing", scope: .admin, self.add),
        ]
    }
    var menuEntry: MenuEntry? { MenuEntry(.app, "publishing") }

    func page(_ request: PageRequest, error: RequestError?) async throws -> Response {
        let publications = try await request.list("\(request.api)/publications", of: PublicationResponse.self).entries
        var rows: [PageModel] = []
        for (index, publication) in publications.enumerated() {
            // The page's list of API requests includes only one of these requests, because they are all alike.
            rows.append(try await self.row(publication, request, isNoted: index == 0))
        }
        let form = error == nil ? PublicationForm() : PublicationForm(typed: request)
        let model: PageModel = [
            "publications": rows, "path": "\(Dashboard.root)\(request.publishingPath)", "may": request.permissions,
            "isOpen": publications.isEmpty || error != nil, "bundleId": request.app,
            "fields": FormModel.fields("add", form.fields(request.texts), error: error, names: PublicationForm.names),
        ]
        return request.page("publications", title: "publishing.title", model, error: error)
    }

    private func row(_ response: PublicationResponse, _ request: PageRequest, isNoted: Bool) async throws -> PageModel {
        let call = LocalAPIRequest.get("/v1/publications/\(response.publication.id)/issues?limit=\(Self.newest)")
        let issues = try await request.call(call, as: ResponsePage<IssueResponse>.self, isNoted: isNoted)
        var model = PublicationModel.values(response, request)
        model["issues"] = issues.entries.map { IssueModel.row($0, request) }
        return model
    }

    private func add(_ request: PageRequest) async throws -> Response {
        let body = try PublicationForm(typed: request).body(request.texts)
        let call = LocalAPIRequest.post("\(request.api)/publications", body)
        let added = try await request.call(call, as: PublicationResponse.self).publication
        return request.redirect(to: request.publicationPath("\(added.id)"), done: "saved")
    }
}

enum PublicationModel {
    static func values(_ response: PublicationResponse, _ request: PageRequest) -> PageModel {
        let publication = response.publication
        var model = PageValue.members(response)
        model["path"] = "\(Dashboard.root)\(request.publicationPath("\(publication.id)"))"
        model["waveText"] = self.waves(publication.waves, request)
        model["limitText"] = self.limits(publication.waves, request) ?? false
        let products = response.subscriptions
        model["subscriptionText"] = products.isEmpty ? false : products.joined(separator: ", ")
        // On every page, the variable `account` is the signed-in caller.
        model["accountName"] = publication.account ?? false
        return model
    }

    static func waves(_ waves: NotifyWaves, _ request: PageRequest) -> String {
        let format = request.format
        let interval = format.duration(seconds: Double(waves.interval))
        return request.texts["publishing.waves", ["size": format.number(Double(waves.size)), "interval": interval]]
    }

    /// Returns the limits of downloads as text, or `nil` if there are none.
    static func limits(_ waves: NotifyWaves, _ request: PageRequest) -> String? {
        let (texts, format) = (request.texts, request.format)
        let downloads = waves.maximumDownloads.map {
            texts["publishing.downloadLimit", ["count": format.number(Double($0))]]
        }
        let bandwidth = waves.maximumBandwidth.map {
            texts["publishing.bandwidthLimit", ["rate": "\(format.bytes(Double($0)))/s"]]
        }
        let limits = [downloads, bandwidth].compactMap(\.self)
        return limits.isEmpty ? nil : limits.joined(separator: ", ")
    }
}
