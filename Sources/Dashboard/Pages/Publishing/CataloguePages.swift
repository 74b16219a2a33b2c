import Hummingbird
import ProviderAPI
import ProviderModel
import PushHTTP
import WebPages

/// The page with the catalogue of an app's published issues, as the app's readers receive it.
struct CataloguePages: PageArea {
    private static let count = 50

    var routes: [PageRoute] { [.get("/apps/{app}/publishing/catalogue", self.list)] }

    private func list(_ request: PageRequest) async throws -> Response {
        let account = request.query("account")
        let query = URLText.query(["account": account, "cursor": request.query("cursor"), "limit": "\(Self.count)"])
        let list = try await request.list("\(request.api)/catalogue:preview\(query)", of: CatalogueEntry.self)
        let path = "\(request.publishingPath)/catalogue"
        let model: PageModel = [
            "issues": list.entries.map { self.row($0, request) }, "accountName": account ?? "",
            "isFiltered": account != nil, "path": "\(Dashboard.root)\(path)",
            "publishing": "\(Dashboard.root)\(request.publishingPath)",
            "pager": request.pager(list.next, path: path, ["account": account]) ?? false,
        ]
        return request.page("catalogue", title: "publishing.catalogue", model)
    }

    private func row(_ entry: CatalogueEntry, _ request: PageRequest) -> PageModel {
        let issue = entry.issue
        var model = PageValue.members(entry)
        model["accessText"] = request.texts["publishing.access.\(issue.access.rawValue)"]
        model["sizeText"] = issue.renditions.map { rendition in
            "\(rendition.screenSize) (\(request.format.bytes(Double(rendition.file.size))))"
        }.joined(separator: ", ")
        // A cover that is not an image is not shown, because a browser could not show it.
        let isImage = issue.cover?.contentType.hasPrefix("image/") ?? false
        let address = isImage ? entry.coverAddress : nil
        model["coverAddress"] = address ?? false
        if model["number"] == nil { model["number"] = false }
        return model
    }
}
