# cmake -DSOURCE_DIR=… -DVERSION=… -DNOTICES=… -DBILL=… -P WriteNotices.cmake
# Writes the licenses of everything that is linked into the program, and the same as a bill of materials (SPDX 2.3), from
# packaging/components, Debian's copyright files and the page's npm packages, with the versions that are installed.  A license in
# packaging/licenses stands for a copyright file that lists every single file.

# Sets version and license_text.
function(describe_debian package)
  execute_process(COMMAND dpkg-query -W -f "\${Version}" ${package} OUTPUT_VARIABLE found ERROR_QUIET RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    set(found "")
  endif()
  set(text "")
  if(EXISTS /usr/share/doc/${package}/copyright)
    file(READ /usr/share/doc/${package}/copyright text)
  endif()
  set(version "${found}" PARENT_SCOPE)
  set(license_text "${text}" PARENT_SCOPE)
endfunction()

function(describe_npm package)
  set(folder ${SOURCE_DIR}/ui/node_modules/${package})
  set(found "")
  set(text "")
  if(EXISTS ${folder}/package.json)
    file(READ ${folder}/package.json json)
    string(JSON found ERROR_VARIABLE ignored GET "${json}" version)
    file(GLOB files ${folder}/LICENSE*)
    foreach(file ${files})
      file(READ ${file} piece)
      string(APPEND text "${piece}")
    endforeach()
  endif()
  set(version "${found}" PARENT_SCOPE)
  set(license_text "${text}" PARENT_SCOPE)
endfunction()

string(TIMESTAMP now "%Y-%m-%dT%H:%M:%SZ" UTC)  # of SOURCE_DATE_EPOCH where that is set
set(packages "")
set(relations "")
set(number 0)
file(WRITE ${NOTICES} "nodescope ${VERSION} is under the Apache License 2.0.  It contains what follows, each under its own license.\n")
file(STRINGS ${SOURCE_DIR}/packaging/components lines REGEX "^[a-z]")
foreach(line ${lines})
  string(REPLACE "|" ";" fields "${line}")
  list(GET fields 0 kind)
  list(GET fields 1 package)
  list(GET fields 2 name)
  list(GET fields 3 license)
  list(GET fields 4 home)
  if(kind STREQUAL debian)
    describe_debian(${package})
    set(locator "pkg:deb/debian/${package}@${version}")
  else()
    describe_npm(${package})
    string(REPLACE "@" "%40" escaped ${package})
    set(locator "pkg:npm/${escaped}@${version}")
  endif()
  if(version STREQUAL "")
    set(locator "${home}")
    set(version NOASSERTION)
  endif()
  string(REPLACE "+" "%2B" locator "${locator}")
  math(EXPR number "${number} + 1")
  set(id "SPDXRef-Package-${number}")
  string(APPEND packages ",
  {\"SPDXID\":\"${id}\",\"name\":\"${name}\",\"versionInfo\":\"${version}\",\"downloadLocation\":\"${home}\",\"filesAnalyzed\":false,
   \"licenseConcluded\":\"${license}\",\"licenseDeclared\":\"${license}\",\"copyrightText\":\"NOASSERTION\",
   \"externalRefs\":[{\"referenceCategory\":\"PACKAGE-MANAGER\",\"referenceType\":\"purl\",\"referenceLocator\":\"${locator}\"}]}")
  string(APPEND relations ",
  {\"spdxElementId\":\"SPDXRef-nodescope\",\"relationshipType\":\"CONTAINS\",\"relatedSpdxElement\":\"${id}\"}")
  if(EXISTS ${SOURCE_DIR}/packaging/licenses/${license})
    file(READ ${SOURCE_DIR}/packaging/licenses/${license} license_text)
  endif()
  string(SHA256 hash "${license_text}")
  if(DEFINED written_${hash})
    set(license_text "As for ${written_${hash}}.")
  else()
    set(written_${hash} "${name}")
  endif()
  string(REPEAT "=" 100 rule)
  file(APPEND ${NOTICES} "\n${rule}\n${name} ${version} (${license}), ${home}\n${rule}\n\n${license_text}\n")
endforeach()

file(WRITE ${BILL} "{\"spdxVersion\":\"SPDX-2.3\",\"dataLicense\":\"CC0-1.0\",\"SPDXID\":\"SPDXRef-DOCUMENT\",
 \"name\":\"nodescope-${VERSION}-linux-x64\",\"documentNamespace\":\"https://spdx.org/spdxdocs/nodescope-${VERSION}-linux-x64\",
 \"creationInfo\":{\"created\":\"${now}\",\"creators\":[\"Tool: nodescope-build-${VERSION}\"]},
 \"packages\":[
  {\"SPDXID\":\"SPDXRef-nodescope\",\"name\":\"nodescope\",\"versionInfo\":\"${VERSION}\",\"downloadLocation\":\"NOASSERTION\",\"filesAnalyzed\":false,
   \"licenseConcluded\":\"Apache-2.0\",\"licenseDeclared\":\"Apache-2.0\",\"copyrightText\":\"NOASSERTION\"}${packages}],
 \"relationships\":[
  {\"spdxElementId\":\"SPDXRef-DOCUMENT\",\"relationshipType\":\"DESCRIBES\",\"relatedSpdxElement\":\"SPDXRef-nodescope\"}${relations}]}
")
